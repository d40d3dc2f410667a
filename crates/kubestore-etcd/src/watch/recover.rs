//! What a hub does when its stream broke, or its token was refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::pending,
    sync::Arc,
    time::SystemTime,
};

use kubestore_kv::{BoxFuture, KvErrorKind};
use tokio::time::{Duration, Instant};

use super::{
    hub::{Ended, Hub, Outgoing},
    link::Link,
    watcher::{Phase, Watcher},
};
use crate::{auth::MAX_RENEWALS, error::Failure, pool::Member};

/// A new token on its way.
pub(super) struct Renewal {
    token: BoxFuture<'static, Result<(), Failure>>,
    /// The watches that were refused for the old one.
    refused: BTreeSet<u64>,
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewal").field("refused", &self.refused).finish_non_exhaustive()
    }
}

/// A link that held this long was a good one: the next pauses are short again.
const STABLE: Duration = Duration::from_secs(5);

impl Hub {
    pub(super) fn broke(&mut self, failure: Failure) {
        let (member, since) = match std::mem::replace(&mut self.link, Link::Idle) {
            Link::Opening { member, .. } => (member, None),
            Link::Open { member, since, .. } => (member, Some(since)),
            Link::Idle | Link::Waiting(_) => return,
        };
        if since.is_some_and(|since| since.elapsed() > STABLE) {
            self.backoff.reset();
        }
        if failure.wants_token() && self.shared.tokens.can_renew() && self.refusals < MAX_RENEWALS {
            self.refusals += 1;
            self.requeue();
            return self.renew();
        }
        self.failures += 1;
        if failure.kind == KvErrorKind::NoLeader {
            self.no_leader_since.get_or_insert_with(Instant::now);
        }
        let pause = self.pause_after(&member, &failure);
        if since.is_some() {
            let watches = self.watches.len();
            tracing::warn!(endpoint = member.url, watches, %failure, "watch stream broke and is made anew");
        } else {
            tracing::debug!(endpoint = member.url, failures = self.failures, %failure, "watch stream does not open");
        }
        self.settle(failure, pause);
        self.link = Link::Waiting(Instant::now() + pause);
    }

    /// Who is asked next, and when: the other members at once, then all again after a pause.
    fn pause_after(&mut self, member: &Arc<Member>, why: &Failure) -> Duration {
        self.shared.pool.leave(member, why);
        if self.failures.is_multiple_of(self.shared.pool.len()) {
            self.backoff.pause()
        } else {
            Duration::ZERO
        }
    }

    /// After a break: ends the watches that cannot go on, and queues the others where they were.
    fn settle(&mut self, failure: Failure, pause: Duration) {
        let lasting = !failure.is_unreachable() && failure.kind != KvErrorKind::Internal;
        let all_asked = self.failures >= self.shared.pool.len();
        let retry_for = self.shared.options.retry_for;
        let too_long = |since: Instant| all_asked && since.elapsed() + pause >= retry_for;
        let leaderless = self.no_leader_since.is_some_and(too_long);
        let hopeless = all_asked && failure.needs_help();
        let ends = |watch: &Watcher| match watch.phase {
            Phase::Parked => false,
            _ if lasting => true,
            _ if watch.is_new() => hopeless || too_long(watch.asked_at),
            _ => leaderless,
        };
        let (ended, kept): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.watches).into_iter().partition(|(_, watch)| ends(watch));
        self.watches = kept;
        self.requeue();
        let why = Ended::Failure(if leaderless && !lasting { Failure::no_leader() } else { failure });
        for watch in ended.into_values() {
            let error = why.error(&watch);
            watch.end(error);
        }
    }

    /// Forgets the stream: every watch is to be created again where it was.
    fn requeue(&mut self) {
        let now = SystemTime::now();
        self.live.clear();
        self.creating.clear();
        self.outbox.clear();
        self.stalled = None;
        for (id, watch) in &mut self.watches {
            if watch.phase != Phase::Parked {
                watch.disconnected(now);
                self.outbox.push_back(Outgoing::Create(*id));
            }
        }
    }

    /// The server does not want to have a watch. If that is for its token, a new one is got, and the stream is made
    /// anew with it.
    pub(super) fn refused(&mut self, id: u64, why: &Ended) {
        let for_its_token = matches!(why, Ended::Failure(failure) if failure.wants_token());
        match self.watches.get_mut(&id) {
            Some(watch)
                if for_its_token && self.shared.tokens.can_renew() && watch.refusals < MAX_RENEWALS =>
            {
                watch.refusals += 1;
                self.renew();
                if let Some(renewal) = &mut self.renewal {
                    renewal.refused.insert(id);
                }
            }
            _ => self.end(id, why),
        }
    }

    fn renew(&mut self) {
        if self.renewal.is_none() {
            let (shared, token) = (Arc::clone(&self.shared), self.token);
            let deadline = Instant::now() + shared.options.request_timeout;
            let token = Box::pin(async move { shared.renew_token(token, deadline).await });
            self.renewal = Some(Renewal { token, refused: BTreeSet::new() });
        }
    }

    /// A new token is there, or there is none to be had.
    pub(super) fn renewed(&mut self, renewed: Result<(), Failure>) {
        let Some(Renewal { refused, .. }) = self.renewal.take() else { return };
        let Err(failure) = renewed else {
            self.requeue();
            if !matches!(self.link, Link::Waiting(_)) {
                self.link = Link::Idle;
            }
            return;
        };
        if !failure.is_unreachable() && self.link.is_open() {
            // The others go on: the server looks at the token when a watch is created, and not later.
            for id in refused {
                self.end(id, &Ended::Failure(failure.clone()));
            }
            return;
        }
        tracing::debug!(%failure, "no token for the watches of a group");
        for id in refused {
            if let Some(watch) = self.watches.get_mut(&id) {
                watch.refusals = 0;
            }
        }
        self.failures += 1;
        let pause = self.backoff.pause();
        self.settle(failure, pause);
        self.link = Link::Waiting(Instant::now() + pause);
    }
}

/// What the renewal of the token comes to; never, if there is none.
pub(super) async fn renewed(renewal: &mut Option<Renewal>) -> Result<(), Failure> {
    match renewal {
        Some(renewal) => renewal.token.as_mut().await,
        None => pending().await,
    }
}
