//! The task of a group: one server stream, shared by the group's watches, and made anew when it breaks.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
};

use etcd_client::{WatchResponse, proto::PbWatchResponse};
use futures_util::FutureExt;
use kubestore_kv::{KvError, Revision, WatchGroup};
use tokio::{
    sync::mpsc::UnboundedReceiver,
    task::unconstrained,
    time::{Duration, Instant, sleep_until},
};

use super::{
    WATCH,
    link::{Happened, Link},
    mailbox::Batch,
    pulse::{Beat, Pulse},
    recover::{Renewal, renewed},
    watcher::{Phase, Watcher},
};
use crate::{
    auth::Generation, backoff::Backoff, error::Failure, kv::Shared, version::answers_progress_requests,
};

/// What the rest of the process asks of a hub.
#[derive(Debug)]
pub(super) enum Command {
    Create(u64, Box<Watcher>),
    Cancel(u64),
    /// The consumer of a watch that was too slow has caught up.
    Room(u64),
    Progress,
}

#[derive(Debug)]
pub(super) struct Hub {
    pub(super) shared: Arc<Shared>,
    group: WatchGroup,
    commands: UnboundedReceiver<Command>,
    pub(super) watches: BTreeMap<u64, Watcher>,
    pub(super) link: Link,
    /// Requests still to be sent on the link, in order.
    pub(super) outbox: VecDeque<Outgoing>,
    /// Creations that were sent; the server answers them in order.
    pub(super) creating: VecDeque<u64>,
    /// Watches by the server's number.
    pub(super) live: HashMap<i64, u64>,
    pub(super) stalled: Option<Stalled>,
    pub(super) backoff: Backoff,
    /// Attempts that failed since a watch was last registered.
    pub(super) failures: usize,
    pub(super) pulse: Pulse,
    /// Progress that was asked for from outside; what only the pulse asked for is not told.
    progress_wanted: bool,
    progress_probed: bool,
    /// The token that the link was opened with. It holds for everything that is sent on it.
    pub(super) token: Generation,
    /// A new token on its way.
    pub(super) renewal: Option<Renewal>,
    /// Tokens in a row with which no stream could be opened.
    pub(super) refusals: usize,
    /// Since when members say that there is no leader. Streams are refused during every election, and most elections
    /// end soon.
    pub(super) no_leader_since: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outgoing {
    Create(u64),
    Cancel(i64),
    Progress,
}

/// A batch that its consumer has no room for. Nothing more is read until it has, or until patience ends.
#[derive(Debug)]
pub(super) struct Stalled {
    watch: u64,
    batch: Batch,
    until: Instant,
}

/// How long one slow consumer may hold up the others of its group before it is taken off the stream.
const PATIENCE: Duration = Duration::from_millis(100);

impl Hub {
    pub(super) fn new(shared: Arc<Shared>, group: WatchGroup, commands: UnboundedReceiver<Command>) -> Self {
        let options = &shared.options;
        let pulse = Pulse::new(options.keepalive_interval, options.keepalive_timeout);
        Self {
            token: shared.tokens.generation(),
            shared,
            group,
            commands,
            watches: BTreeMap::new(),
            link: Link::Idle,
            outbox: VecDeque::new(),
            creating: VecDeque::new(),
            live: HashMap::new(),
            stalled: None,
            backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(3)),
            failures: 0,
            pulse,
            progress_wanted: false,
            progress_probed: false,
            renewal: None,
            refusals: 0,
            no_leader_since: None,
        }
    }

    /// Until no watch is left. The link is dropped with the hub, which closes the stream.
    pub(super) async fn run(mut self) {
        loop {
            let patience = self.stalled.as_ref().map(|stalled| stalled.until);
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.command(command),
                    None => return,
                },
                happened = self.link.next(self.stalled.is_none(), !self.outbox.is_empty()) => self.happened(happened),
                beat = self.pulse.next(), if self.link.is_open() && self.expects_answers() => self.beat(beat),
                renewed = renewed(&mut self.renewal) => self.renewed(renewed),
                () = sleep_until(patience.unwrap_or_else(Instant::now)), if patience.is_some() => self.park(),
            }
            if self.watches.is_empty() && self.shared.groups.retire(self.group, &self.commands) {
                return;
            }
            self.open_if_needed();
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Create(id, watcher) => {
                self.watches.insert(id, *watcher);
                self.outbox.push_back(Outgoing::Create(id));
            }
            Command::Cancel(id) => self.cancel(id),
            Command::Room(id) => self.room(id),
            Command::Progress => {
                // A watch that is taken off is not in step, and the server would not know.
                let in_step = !self.watches.values().any(|watch| watch.phase == Phase::Parked);
                if self.link.is_open() && in_step && !self.outbox.contains(&Outgoing::Progress) {
                    self.outbox.push_back(Outgoing::Progress);
                    self.progress_wanted = true;
                }
            }
        }
    }

    /// There is something on the stream that the server could speak of.
    fn expects_answers(&self) -> bool {
        self.stalled.is_none() && !(self.live.is_empty() && self.creating.is_empty())
    }

    fn beat(&mut self, beat: Beat) {
        match beat {
            Beat::Quiet => {
                if let Link::Open { member, .. } = &self.link {
                    self.pulse.ask(member);
                }
            }
            Beat::Answered(Ok(head)) => {
                let answerable = self.answers_progress(head);
                if answerable {
                    self.progress_probed = true;
                    if !self.outbox.contains(&Outgoing::Progress) {
                        self.outbox.push_back(Outgoing::Progress);
                    }
                }
                // Creations are answered always.
                if answerable || !self.creating.is_empty() { self.pulse.owed() } else { self.pulse.heard() }
            }
            // It answers; what it thinks of the user shows when a watch is created.
            Beat::Answered(Err(failure)) if failure.is_the_users() => self.pulse.heard(),
            Beat::Answered(Err(failure)) | Beat::Missed(failure) => self.broke(failure),
        }
    }

    /// Whether the server, which is at `head`, is sure to answer a progress request on the stream as it is.
    fn answers_progress(&self, head: Revision) -> bool {
        let Link::Open { member, .. } = &self.link else { return false };
        let in_step = |watch: &Watcher| matches!(watch.phase, Phase::Live(_)) && watch.started_at <= head;
        member.version().is_some_and(|version| answers_progress_requests(&version))
            && !self.live.is_empty()
            && self.watches.values().all(in_step)
    }

    fn cancel(&mut self, id: u64) {
        let Some(watch) = self.watches.remove(&id) else { return };
        if self.stalled.as_ref().is_some_and(|stalled| stalled.watch == id) {
            self.stalled = None;
        }
        // One whose creation is on its way is cancelled when the server has answered it.
        self.take_off(watch.phase);
    }

    fn take_off(&mut self, phase: Phase) {
        if let Phase::Live(server_id) = phase {
            self.live.remove(&server_id);
            self.outbox.push_back(Outgoing::Cancel(server_id));
        }
    }

    fn room(&mut self, id: u64) {
        if let Some(stalled) = self.stalled.take_if(|stalled| stalled.watch == id) {
            self.deliver(id, stalled.batch);
        } else if let Some(watch) = self.watches.get_mut(&id)
            && watch.phase == Phase::Parked
        {
            watch.phase = Phase::Pending;
            self.outbox.push_back(Outgoing::Create(id));
        }
    }

    /// Takes the watch that holds up the others off the stream. What it was sent is read again when it comes back.
    fn park(&mut self) {
        let Some(stalled) = self.stalled.take() else { return };
        let Some(watch) = self.watches.get_mut(&stalled.watch) else { return };
        let phase = std::mem::replace(&mut watch.phase, Phase::Parked);
        let again = std::mem::replace(&mut watch.lagged, true);
        let key = String::from_utf8_lossy(watch.key());
        if again {
            tracing::debug!(%key, "consumer of a watch lags again");
        } else {
            tracing::warn!(%key, "consumer of a watch lags; its events are left on the server until it has caught up");
        }
        self.take_off(phase);
    }

    fn happened(&mut self, happened: Happened) {
        match happened {
            Happened::TimeToTry => self.link = Link::Idle,
            Happened::Opened(stream) => {
                if let Link::Opening { member, .. } = std::mem::replace(&mut self.link, Link::Idle) {
                    let (requests, responses) = stream.split();
                    let responses = Box::new(responses);
                    self.link = Link::Open { member, since: Instant::now(), requests, responses };
                    self.pulse.heard();
                }
            }
            Happened::Writable => self.send_next(),
            Happened::Response(response) => {
                self.pulse.heard();
                self.response(response);
            }
            Happened::Broke(failure) => self.broke(failure),
        }
    }

    /// Opens a link if there is something to watch and none. The first creation goes along.
    fn open_if_needed(&mut self) {
        while matches!(self.link, Link::Idle) && self.renewal.is_none() {
            let Some(next) = self.outbox.pop_front() else { return };
            let Outgoing::Create(id) = next else { continue };
            let Some(watch) = self.watches.get(&id) else { continue };
            let (key, options) = watch.creation();
            let member = Arc::clone(self.shared.pool.current());
            self.creating.push_back(id);
            self.token = self.shared.tokens.generation();
            self.link = Link::open(member, key, options, self.shared.options.dial_timeout);
        }
    }

    /// Sends the next request. The link has just said that it takes one, and nobody else sends. Should it take none after
    /// all, the request waits for its turn.
    fn send_next(&mut self) {
        let Link::Open { requests, .. } = &mut self.link else { return };
        let Some(next) = self.outbox.pop_front() else { return };
        // Unconstrained: a task that has used up its budget is told to wait where it need not.
        let sent = match next {
            Outgoing::Create(id) => {
                let Some(watch) = self.watches.get(&id) else { return };
                let (key, options) = watch.creation();
                unconstrained(requests.watch(key, Some(options))).now_or_never()
            }
            Outgoing::Cancel(server_id) => unconstrained(requests.cancel(server_id)).now_or_never(),
            Outgoing::Progress => unconstrained(requests.request_progress()).now_or_never(),
        };
        match (sent, next) {
            (None, next) => self.outbox.push_front(next),
            // What was not sent because the link broke is made up for when it is found broken.
            (Some(_), Outgoing::Create(id)) => self.creating.push_back(id),
            (Some(_), _) => {}
        }
    }

    fn response(&mut self, response: WatchResponse) {
        let response = response.0;
        let head = Revision(response.header.as_ref().map_or(0, |header| header.revision));
        if response.created {
            self.created(&response, head);
        } else if response.canceled {
            // The server's answer to our own cancellation finds the watch gone.
            if let Some(id) = self.live.remove(&response.watch_id) {
                // etcd keeps a watch that it ended for a compaction among those of the stream, where it is never in step
                // with the others, until it is cancelled from here too.
                self.outbox.push_back(Outgoing::Cancel(response.watch_id));
                self.end(id, &reason(&response));
            }
        } else if !response.events.is_empty() {
            let Some(id) = self.live.get(&response.watch_id).copied() else { return };
            let Some(watch) = self.watches.get(&id) else { return };
            match watch.batch(response.events) {
                Ok(Some(batch)) => self.deliver(id, batch),
                Ok(None) => {}
                Err(failure) => {
                    self.take_off(watch.phase);
                    self.end(id, &Ended::Failure(failure));
                }
            }
        } else {
            self.progress(response.watch_id, head);
        }
    }

    fn created(&mut self, response: &PbWatchResponse, head: Revision) {
        let Some(id) = self.creating.pop_front() else { return };
        if response.canceled {
            return self.refused(id, &reason(response));
        }
        self.failures = 0;
        self.refusals = 0;
        self.no_leader_since = None;
        let wanted = self.watches.get_mut(&id).is_some_and(|watch| watch.registered(response.watch_id, head));
        self.live.insert(response.watch_id, id);
        if !wanted {
            self.watches.remove(&id);
            self.take_off(Phase::Live(response.watch_id));
        }
    }

    /// Progress under the number -1 is that of all watches of the stream, and the answer to a request.
    fn progress(&mut self, server_id: i64, revision: Revision) {
        let mut tell = true;
        if server_id == -1 {
            let probed = std::mem::take(&mut self.progress_probed);
            tell = std::mem::take(&mut self.progress_wanted) || !probed;
        }
        for (number, id) in &self.live {
            if (server_id == -1 || server_id == *number)
                && let Some(watch) = self.watches.get_mut(id)
            {
                watch.progress(revision, tell);
            }
        }
    }

    fn deliver(&mut self, id: u64, batch: Batch) {
        let Some(watch) = self.watches.get_mut(&id) else { return };
        if let Err(batch) = watch.deliver(batch) {
            self.stalled = Some(Stalled { watch: id, batch, until: Instant::now() + PATIENCE });
        }
    }

    pub(super) fn end(&mut self, id: u64, why: &Ended) {
        if let Some(watch) = self.watches.remove(&id) {
            let error = why.error(&watch);
            watch.end(error);
        }
    }
}

/// Why a watch ends.
pub(super) enum Ended {
    Compacted(Revision),
    Failure(Failure),
}

impl Ended {
    pub(super) fn error(&self, watch: &Watcher) -> KvError {
        match self {
            Self::Compacted(revision) => KvError::compacted(WATCH, *revision).with_key(watch.key().clone()),
            Self::Failure(failure) => failure.clone().read(WATCH, Some(watch.key())),
        }
    }
}

fn reason(response: &PbWatchResponse) -> Ended {
    if response.compact_revision > 0 {
        return Ended::Compacted(Revision(response.compact_revision));
    }
    Ended::Failure(Failure::from_cancel_reason(&response.cancel_reason))
}
