//! One watch as its hub knows it: how far it has come, and where it goes on.

use std::{sync::Arc, time::SystemTime};

use bytes::Bytes;
use etcd_client::{
    WatchOptions,
    proto::{PbEvent, PbKeyValue},
};
use kubestore_kv::{KvError, KvEvent, Revision, WatchRequest, WatchState, WatchTarget};
use tokio::{sync::oneshot, time::Instant};

use super::{
    WATCH,
    mailbox::{Batch, Mailbox},
};
use crate::{
    convert::key_value,
    error::Failure,
    read::{non_empty, range_end},
};

#[derive(Debug)]
pub(super) struct Watcher {
    request: WatchRequest,
    mailbox: Arc<Mailbox>,
    /// Whoever waits for the watch to be registered, until it is.
    reply: Option<oneshot::Sender<Result<(), KvError>>>,
    pub(super) asked_at: Instant,
    pub(super) phase: Phase,
    /// Everything at or below it was handed over, or was not asked for.
    delivered: Option<Revision>,
    /// The head when the server registered a watch "from now". It only says where to go on if nothing was handed over
    /// by then: etcd reads it after the registration, so an event at or below it may still come and is welcome.
    registered_at: Revision,
    reconnecting: bool,
    /// First revision that the server was asked for; 0 is "from now".
    pub(super) started_at: Revision,
    /// Tokens in a row with which the server refused it.
    pub(super) refusals: usize,
    /// Its consumer was too slow before.
    pub(super) lagged: bool,
}

/// Where a watch stands with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// To be created, or asked for and not yet answered.
    Pending,
    /// Registered under this number.
    Live(i64),
    /// Taken off until its consumer has caught up.
    Parked,
}

/// Bytes that an event takes beside its key and values, roughly.
const EVENT_OVERHEAD: usize = 200;

impl Watcher {
    pub(super) fn new(
        request: WatchRequest,
        mailbox: Arc<Mailbox>,
        reply: oneshot::Sender<Result<(), KvError>>,
    ) -> Self {
        // Zero is "from now", as etcd takes it.
        let start = request.start.filter(|start| start.0 > 0);
        let delivered = start.map(|start| Revision(start.0 - 1));
        Self {
            request,
            mailbox,
            reply: Some(reply),
            asked_at: Instant::now(),
            phase: Phase::Pending,
            delivered,
            registered_at: Revision(0),
            reconnecting: false,
            started_at: Revision(0),
            refusals: 0,
            lagged: false,
        }
    }

    /// The key or prefix, for errors and logs.
    pub(super) fn key(&self) -> &Bytes {
        match &self.request.target {
            WatchTarget::Key(key) | WatchTarget::Prefix(key) => key,
        }
    }

    /// The first caller still waits for it.
    pub(super) fn is_new(&self) -> bool {
        self.reply.is_some()
    }

    /// The request that creates it where it has to go on.
    pub(super) fn creation(&self) -> (Vec<u8>, WatchOptions) {
        let mut options = WatchOptions::new();
        if let Some(start) = self.resume_at() {
            options = options.with_start_revision(start.0);
        }
        if self.request.previous {
            options = options.with_prev_key();
        }
        if self.request.progress_notify {
            options = options.with_progress_notify();
        }
        match &self.request.target {
            WatchTarget::Key(key) => (key.to_vec(), options),
            WatchTarget::Prefix(prefix) => {
                (non_empty(prefix).to_vec(), options.with_range(range_end(prefix)))
            }
        }
    }

    /// `None`: from now.
    fn resume_at(&self) -> Option<Revision> {
        match self.delivered {
            Some(delivered) => Some(delivered.next()),
            None if self.registered_at > Revision(0) => Some(self.registered_at.next()),
            None => None,
        }
    }

    /// The server has registered it as `server_id` and was at `head` right after. `false`: nobody wants it any more.
    pub(super) fn registered(&mut self, server_id: i64, head: Revision) -> bool {
        self.phase = Phase::Live(server_id);
        self.refusals = 0;
        self.started_at = self.resume_at().unwrap_or(Revision(0));
        if let Some(start) = self.resume_at()
            && start > head.next()
        {
            tracing::warn!(
                key = %String::from_utf8_lossy(self.key()),
                start = start.0,
                head = head.0,
                "watch starts above the newest revision; was the server restored from an older state?"
            );
        }
        if self.resume_at().is_none() {
            self.registered_at = head;
        }
        if std::mem::take(&mut self.reconnecting) {
            self.mailbox.put_state(WatchState::Live);
        }
        match self.reply.take() {
            Some(reply) => reply.send(Ok(())).is_ok(),
            None => true,
        }
    }

    /// The stream it was on broke.
    pub(super) fn disconnected(&mut self, since: SystemTime) {
        self.phase = Phase::Pending;
        if !self.is_new() && !std::mem::replace(&mut self.reconnecting, true) {
            self.mailbox.put_state(WatchState::Reconnecting { since });
        }
    }

    /// What of `events` is new, in the contract's terms.
    pub(super) fn batch(&self, events: Vec<PbEvent>) -> Result<Option<Batch>, Failure> {
        let mut batch = Batch { events: Vec::with_capacity(events.len()), through: Revision(0), bytes: 0 };
        for event in events {
            let Some(kv) = event.kv else { return Err(Failure::malformed("an event without a key")) };
            let revision = Revision(kv.mod_revision);
            if self.delivered.is_some_and(|delivered| revision <= delivered) {
                continue;
            }
            if revision < batch.through {
                return Err(Failure::malformed("events out of order"));
            }
            batch.through = revision;
            batch.bytes += EVENT_OVERHEAD + size(&kv) + event.prev_kv.as_ref().map_or(0, size);
            let previous = event.prev_kv.map(key_value);
            batch.events.push(match event.r#type {
                0 => KvEvent::put(key_value(kv), previous),
                1 => KvEvent::delete(kv.key.into(), revision, previous),
                _ => return Err(Failure::malformed("an event of a kind that is not known")),
            });
        }
        Ok((!batch.events.is_empty()).then_some(batch))
    }

    /// Hands a batch over, or gives it back if the consumer lags too far.
    pub(super) fn deliver(&mut self, batch: Batch) -> Result<(), Batch> {
        let through = batch.through;
        self.mailbox.offer(batch)?;
        self.delivered = Some(through);
        Ok(())
    }

    /// Nothing at or below `revision` is still to come; `tell` the consumer so. What would lead back is left out: after
    /// a reconnection to a member that lags.
    pub(super) fn progress(&mut self, revision: Revision, tell: bool) {
        if self.resume_at().is_none_or(|next| revision.next() >= next) {
            self.delivered = Some(revision);
            if tell {
                self.mailbox.put_progress(revision);
            }
        }
    }

    /// Ends it with one error: that of the call if it has not returned yet, except that a compacted start is an item of
    /// the stream, as it is when the server finds it out a moment later.
    pub(super) fn end(mut self, error: KvError) {
        match self.reply.take() {
            Some(reply) if error.kind() != kubestore_kv::KvErrorKind::Compacted => {
                let _received = reply.send(Err(error));
            }
            Some(reply) => {
                self.mailbox.end(error);
                let _received = reply.send(Ok(()));
            }
            None => self.mailbox.end(error),
        }
    }
}

impl Drop for Watcher {
    /// A hub that is stopped in the middle, with its runtime, does not leave its consumers waiting.
    fn drop(&mut self) {
        if !self.mailbox.has_ended() {
            self.mailbox.end(Failure::stopped().read(WATCH, Some(self.key())));
        }
    }
}

fn size(kv: &PbKeyValue) -> usize {
    kv.key.len() + kv.value.len()
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll};

    use futures_util::task::noop_waker;
    use kubestore_kv::{KvErrorKind, KvEventKind, WatchGroup, WatchItem};

    use super::*;

    fn watcher(start: i64) -> (Watcher, Arc<Mailbox>, oneshot::Receiver<Result<(), KvError>>) {
        let mailbox = Arc::new(Mailbox::new(10, 1000));
        let (reply, created) = oneshot::channel();
        let target = WatchTarget::Prefix(Bytes::from_static(b"/p/"));
        let request = WatchRequest::new(WatchGroup::new(), target).from(Revision(start));
        (Watcher::new(request, Arc::clone(&mailbox), reply), mailbox, created)
    }

    fn event(kind: i32, revision: i64) -> PbEvent {
        let kv = PbKeyValue { key: b"/p/a".to_vec(), mod_revision: revision, ..PbKeyValue::default() };
        PbEvent { r#type: kind, kv: Some(kv), prev_kv: None }
    }

    fn take(mailbox: &Mailbox) -> Option<Result<WatchItem, KvError>> {
        match mailbox.poll_take(&Context::from_waker(&noop_waker())) {
            Poll::Ready(taken) => taken.map(|(item, _)| item),
            Poll::Pending => None,
        }
    }

    #[test]
    fn what_was_handed_over_is_not_handed_over_again() {
        let (mut watcher, _mailbox, _created) = watcher(5);
        let batch = watcher.batch(vec![event(0, 4), event(0, 5), event(1, 6), event(0, 6)]).unwrap().unwrap();
        assert_eq!(batch.through, Revision(6));
        let kinds: Vec<_> = batch.events.iter().map(|event| (event.kind, event.kv.mod_revision.0)).collect();
        assert_eq!(kinds, [(KvEventKind::Put, 5), (KvEventKind::Delete, 6), (KvEventKind::Put, 6)]);
        watcher.deliver(batch).unwrap();
        assert!(watcher.batch(vec![event(0, 5), event(0, 6)]).unwrap().is_none());
        assert_eq!(watcher.resume_at(), Some(Revision(7)));
    }

    #[test]
    fn answers_that_make_no_sense_are_errors_and_not_panics() {
        let (watcher, ..) = watcher(1);
        for (events, what) in [
            (vec![event(7, 2)], "a kind that is not known"),
            (vec![event(-1, 2)], "a kind that is not known"),
            (vec![event(0, 3), event(0, 2)], "out of order"),
            (vec![PbEvent { r#type: 0, kv: None, prev_kv: None }], "without a key"),
        ] {
            let failure = watcher.batch(events).unwrap_err();
            assert_eq!(failure.kind, KvErrorKind::Internal);
            assert!(failure.to_string().contains(what), "{failure}");
        }
    }

    #[test]
    fn progress_never_goes_back() {
        let (mut watcher, mailbox, _created) = watcher(5);
        for (revision, shown) in [(3, None), (4, Some(4)), (9, Some(9)), (8, None), (9, Some(9))] {
            watcher.progress(Revision(revision), true);
            let taken = take(&mailbox).map(|item| match item.unwrap() {
                WatchItem::Progress(revision) => revision.0,
                other => panic!("{other:?}"),
            });
            assert_eq!(taken, shown, "progress at {revision}");
        }
        watcher.progress(Revision(10), false);
        assert!(take(&mailbox).is_none());
        assert_eq!(watcher.resume_at(), Some(Revision(11)));
    }

    #[test]
    fn a_watch_from_now_resumes_after_its_registration_and_drops_nothing_before() {
        let (mut watcher, mailbox, mut created) = watcher(0);
        assert_eq!(watcher.resume_at(), None);
        assert!(watcher.registered(0, Revision(9)));
        assert!(created.try_recv().unwrap().is_ok());
        assert_eq!(watcher.resume_at(), Some(Revision(10)));
        // Written between the registration and the reading of the head.
        assert_eq!(watcher.batch(vec![event(0, 9)]).unwrap().unwrap().through, Revision(9));
        watcher.disconnected(SystemTime::UNIX_EPOCH);
        watcher.disconnected(SystemTime::now());
        let reconnecting = WatchState::Reconnecting { since: SystemTime::UNIX_EPOCH };
        assert!(matches!(take(&mailbox), Some(Ok(WatchItem::State(state))) if state == reconnecting));
        assert!(watcher.registered(0, Revision(20)));
        assert!(matches!(take(&mailbox), Some(Ok(WatchItem::State(WatchState::Live)))));
        assert_eq!(watcher.resume_at(), Some(Revision(10)));
    }

    #[test]
    fn a_watch_whose_task_was_stopped_does_not_hang() {
        let (mut watcher, mailbox, _created) = watcher(1);
        watcher.registered(0, Revision(1));
        drop(watcher);
        assert_eq!(take(&mailbox).unwrap().unwrap_err().kind(), KvErrorKind::Unavailable);
        assert!(take(&mailbox).is_none());
    }
}
