//! What the writer thread does: commits whatever is queued as one batch, then publishes it, then acknowledges it.
//!
//! Nothing is visible before it is durable, because what is published is what was committed. Between batches it erases
//! what compactions left, a step at a time. On a full disk it goes on with what makes room, and with the rest once the
//! reserve could be made again.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, TryRecvError},
    },
    time::Duration,
};

use kubestore_kv::KvError;
use tokio::sync::oneshot;

use super::{
    ledger::{CommitError, Ledger},
    thread::{Job, Message},
    trouble::{Cause, PAUSE, Trouble},
};
use crate::{
    engine::Shared,
    state::{Done, Op, State},
};

/// The most requests in one commit.
const BATCH_REQUESTS: usize = 512;
/// The most bytes of values in one commit, unless one request has more.
const BATCH_BYTES: usize = 8 << 20;
/// Changes looked at for the sake of a compaction along with a commit.
const CLEAN_WITH_COMMIT: usize = 128;
/// The same in one step while nobody writes.
const CLEAN_STEP: usize = 512;

/// The writer.
#[derive(Debug)]
pub(super) struct Worker {
    shared: Arc<Shared>,
    ledger: Ledger,
    trouble: Option<Trouble>,
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared>, mut ledger: Ledger) -> Self {
        let trouble = ledger.fill_reserve().err().map(|cause| Trouble::full(Cause::new(cause), false));
        Self { shared, ledger, trouble }
    }

    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        // Leases may have ended while the directory was closed.
        self.commit_batch(vec![Work { op: Op::Expire, asker: None }]);
        let mut carried = None;
        while let Some(message) = carried.take().or_else(|| self.next(messages)) {
            let Message::Job(first) = message else { return };
            let (batch, next) = gather(first, messages);
            carried = next;
            self.commit_batch(batch);
        }
    }

    /// The next message; erases meanwhile what is to be erased.
    fn next(&mut self, messages: &Receiver<Message>) -> Option<Message> {
        while self.shared.snapshot().has_garbage() || self.ledger.has_leftovers() {
            self.look_again();
            // A disk in trouble is left alone for a while.
            let wait = match &self.trouble {
                Some(trouble) if !trouble.lets_shrink() => PAUSE,
                _ => Duration::ZERO,
            };
            let message = if wait.is_zero() {
                messages.try_recv().map_err(|error| error == TryRecvError::Disconnected)
            } else {
                messages.recv_timeout(wait).map_err(|error| error == RecvTimeoutError::Disconnected)
            };
            match message {
                Ok(message) => return Some(message),
                Err(true) => return None,
                Err(false) if wait.is_zero() => self.erase_step(),
                Err(false) => {}
            }
        }
        self.ledger.reclaim(self.trouble.as_ref().is_some_and(Trouble::is_full));
        messages.recv().ok()
    }

    fn erase_step(&mut self) {
        let mut state = State::clone(&self.shared.snapshot());
        let erased = if state.has_garbage() {
            let mut changes = Vec::new();
            state.clean(CLEAN_STEP, &mut changes);
            self.ledger.commit(&changes, false).map(|()| self.shared.publish(state, &[]))
        } else {
            self.ledger.erase_leftovers(CLEAN_STEP)
        };
        if let Err(error) = erased {
            self.note(error);
        }
    }

    /// Commits and answers what may be written at the moment, and refuses the rest.
    fn commit_batch(&mut self, mut batch: Vec<Work>) {
        self.look_again();
        if self.trouble.is_none()
            && !batch.iter().all(|work| work.op.makes_room())
            && let Err(cause) = self.ledger.check_room(0)
        {
            self.trouble = Some(Trouble::full(Cause::new(cause), false));
        }
        if let Some(trouble) = &self.trouble {
            let (directory, shrinks) = (self.ledger.directory(), trouble.lets_shrink());
            let (admitted, refused): (_, Vec<_>) =
                batch.into_iter().partition(|work| shrinks && work.op.makes_room());
            batch = admitted;
            for work in refused {
                work.answer(|operation| Err(trouble.refusal(operation, directory)));
            }
        }
        while !batch.is_empty() {
            batch = self.try_batch(batch);
        }
    }

    /// Decides a batch on the published state; commits; publishes; answers. Tells what is to be tried once more: of a
    /// batch that the disk was too full for, what makes room.
    fn try_batch(&mut self, batch: Vec<Work>) -> Vec<Work> {
        let mut state = State::clone(&self.shared.snapshot());
        let now = self.shared.options.clock.now();
        let mut changes = Vec::with_capacity(batch.len());
        let mut decided = Vec::with_capacity(batch.len());
        for Work { op, asker } in batch {
            let again = op.makes_room().then(|| op.clone());
            let answer = state.apply(op, now, &mut changes);
            decided.push((again, asker, answer));
        }
        let committed = if changes.is_empty() {
            Ok(())
        } else {
            if state.has_garbage() {
                state.clean(CLEAN_WITH_COMMIT, &mut changes);
            }
            self.ledger.commit(&changes, true).map(|()| self.shared.publish(state, &changes))
        };
        let failed = match committed {
            Ok(()) => {
                for (_, asker, answer) in decided {
                    reply(asker, |_| answer);
                }
                return Vec::new();
            }
            Err(error) => error,
        };
        let in_doubt = matches!(failed, CommitError::InDoubt(_));
        let trouble = self.note(failed);
        let directory = self.ledger.directory();
        let mut retried = Vec::new();
        for (again, asker, _) in decided {
            match again.filter(|_| trouble.lets_shrink()) {
                Some(op) => retried.push(Work { op, asker }),
                None if in_doubt => reply(asker, |operation| Err(trouble.unknown(operation, directory))),
                None => reply(asker, |operation| Err(trouble.refusal(operation, directory))),
            }
        }
        retried
    }

    /// Ends a trouble that is over.
    fn look_again(&mut self) {
        let over = self.trouble.take_if(|trouble| trouble.is_over());
        if over.is_some_and(|trouble| trouble.is_full()) {
            match self.ledger.fill_reserve() {
                Ok(()) => {
                    tracing::info!(directory = %self.ledger.directory().display(), "there is room on the disk again")
                }
                Err(cause) => self.trouble = Some(Trouble::full(Cause::new(cause), false)),
            }
        }
    }

    /// Remembers why a commit failed. On a disk that has become full it gives the reserve up.
    fn note(&mut self, error: CommitError) -> Trouble {
        let directory = self.ledger.directory().display();
        let was_full = self.trouble.as_ref().is_some_and(Trouble::is_full);
        let trouble = match error {
            CommitError::NotApplied { cause, full } if full || was_full => {
                tracing::warn!(%directory, error = %cause, "the disk is full; nothing of the commit was written");
                let freed = self.ledger.release_reserve();
                Trouble::full(Cause::new(cause), !freed)
            }
            CommitError::NotApplied { cause, .. } => {
                tracing::warn!(%directory, error = %cause, "a commit failed; nothing of it was written");
                Trouble::refused(Cause::new(cause))
            }
            CommitError::InDoubt(cause) => {
                tracing::error!(%directory, error = %cause, "a commit failed and may be on disk; no more is written");
                Trouble::Doubt(Cause::new(cause))
            }
        };
        self.trouble.insert(trouble).clone()
    }
}

/// A request, and who asked for it, for what, and where the answer goes.
struct Work {
    op: Op,
    asker: Option<Asker>,
}

type Asker = (&'static str, oneshot::Sender<Result<Done, KvError>>);

impl Work {
    fn answer(self, answer: impl FnOnce(&'static str) -> Result<Done, KvError>) {
        reply(self.asker, answer);
    }
}

fn reply(asker: Option<Asker>, answer: impl FnOnce(&'static str) -> Result<Done, KvError>) {
    if let Some((operation, reply)) = asker {
        // Nobody listens where the future was dropped.
        let _ = reply.send(answer(operation));
    }
}

/// What is queued, as far as it may share a commit; and the message that ended it.
///
/// A compaction is alone: watches must have been told of all before it, or a quiet one would seem to be overtaken.
fn gather(first: Job, messages: &Receiver<Message>) -> (Vec<Work>, Option<Message>) {
    let mut bytes = size(&first.op);
    let mut alone = is_compaction(&first.op);
    let mut batch = vec![Work::from(first)];
    while !alone && batch.len() < BATCH_REQUESTS && bytes < BATCH_BYTES {
        match messages.try_recv() {
            Ok(Message::Job(job)) if !is_compaction(&job.op) => {
                bytes += size(&job.op);
                batch.push(Work::from(job));
            }
            Ok(other) => return (batch, Some(other)),
            Err(_) => alone = true,
        }
    }
    (batch, None)
}

impl From<Job> for Work {
    fn from(job: Job) -> Self {
        Self { op: job.op, asker: Some((job.operation, job.reply)) }
    }
}

fn is_compaction(op: &Op) -> bool {
    matches!(op, Op::Compact(_))
}

fn size(op: &Op) -> usize {
    match op {
        Op::Put(request) => request.key.len() + request.value.len(),
        _ => 0,
    }
}
