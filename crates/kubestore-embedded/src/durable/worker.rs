//! What the writer thread does: commits whatever is queued as one batch, then publishes it, then acknowledges it.
//!
//! Nothing is visible before it is durable, because what is published is what was committed. Between batches it erases
//! what compactions left, a step at a time.

use std::{
    error::Error,
    fmt,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, TryRecvError},
    },
    time::{Duration, Instant},
};

use kubestore_kv::{BoxError, KvError, KvErrorKind};
use tokio::sync::oneshot;

use super::{
    directory::is_full,
    ledger::{CommitError, Ledger},
    thread::{Job, Message},
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
/// How long writes are refused without a try after the disk was full.
const FULL_PAUSE: Duration = Duration::from_secs(1);

/// The writer.
#[derive(Debug)]
pub(super) struct Worker {
    shared: Arc<Shared>,
    ledger: Ledger,
    trouble: Option<Trouble>,
    /// That the disk was full, until a commit succeeds: what fails meanwhile fails because of that.
    full: Option<Cause>,
}

/// Why writes are refused.
#[derive(Clone, Debug)]
struct Trouble {
    cause: Cause,
    /// `None` for good: what is on disk is in doubt.
    until: Option<Instant>,
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared>, ledger: Ledger) -> Self {
        Self { shared, ledger, trouble: None, full: None }
    }

    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        // Leases may have ended while the directory was closed.
        self.commit_batch(vec![(Op::Expire, None)]);
        let mut carried = None;
        while let Some(message) = carried.take().or_else(|| self.next(messages)) {
            let Message::Job(first) = message else { return };
            let (batch, next) = gather(first, messages);
            carried = next;
            self.commit_batch(
                batch.into_iter().map(|job| (job.op, Some((job.operation, job.reply)))).collect(),
            );
        }
    }

    /// The next message; erases meanwhile what is to be erased.
    fn next(&mut self, messages: &Receiver<Message>) -> Option<Message> {
        while self.shared.snapshot().has_garbage() || self.ledger.has_leftovers() {
            if self.trouble.is_some() {
                match messages.recv_timeout(FULL_PAUSE) {
                    Ok(message) => return Some(message),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if self.refusing() {
                    continue;
                }
            }
            match messages.try_recv() {
                Ok(message) => return Some(message),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => self.erase_step(),
            }
        }
        self.ledger.reclaim();
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

    /// Decides a batch on the published state; commits; publishes; answers.
    fn commit_batch(&mut self, batch: Vec<(Op, Option<Asker>)>) {
        if self.refusing() {
            for (operation, reply) in batch.into_iter().filter_map(|(_, asker)| asker) {
                // Nobody listens where the future was dropped; so below.
                let _ = reply.send(Err(self.refusal(operation)));
            }
            return;
        }
        let mut state = State::clone(&self.shared.snapshot());
        let now = self.shared.options.clock.now();
        let mut changes = Vec::with_capacity(batch.len());
        let mut answers = Vec::with_capacity(batch.len());
        for (op, asker) in batch {
            let answer = state.apply(op, now, &mut changes);
            answers.extend(asker.map(|(operation, reply)| (operation, reply, answer)));
        }
        let committed = if changes.is_empty() {
            Ok(())
        } else {
            if state.has_garbage() {
                state.clean(CLEAN_WITH_COMMIT, &mut changes);
            }
            self.ledger.commit(&changes, true).map(|()| self.shared.publish(state, &changes))
        };
        match committed {
            Ok(()) => {
                self.full = None;
                for (_, reply, answer) in answers {
                    let _ = reply.send(answer);
                }
            }
            Err(error) => {
                let in_doubt = matches!(error, CommitError::InDoubt(_));
                self.note(error);
                for (operation, reply, _) in answers {
                    let _ = reply.send(Err(if in_doubt {
                        self.unknown(operation)
                    } else {
                        self.refusal(operation)
                    }));
                }
            }
        }
    }

    fn refusing(&mut self) -> bool {
        let over = self
            .trouble
            .as_ref()
            .is_some_and(|trouble| trouble.until.is_some_and(|until| until <= Instant::now()));
        if over {
            self.trouble = None;
        }
        self.trouble.is_some()
    }

    fn note(&mut self, error: CommitError) {
        let directory = self.ledger.directory().display();
        self.trouble = Some(match error {
            CommitError::NotApplied(cause) => {
                tracing::warn!(%directory, error = %cause, "a commit failed; nothing of it was written");
                let cause = Cause::new(cause);
                if cause.full {
                    self.full = Some(cause.clone());
                }
                Trouble {
                    cause: self.full.clone().unwrap_or(cause),
                    until: Some(Instant::now() + FULL_PAUSE),
                }
            }
            CommitError::InDoubt(cause) => {
                tracing::error!(%directory, error = %cause, "a commit failed and may be on disk; no more is written");
                Trouble { cause: Cause::new(cause), until: None }
            }
        });
    }

    /// The answer to a write that was not tried, or failed without a trace.
    fn refusal(&self, operation: &'static str) -> KvError {
        let directory = self.ledger.directory().display();
        let Some(trouble) = &self.trouble else {
            return KvError::new(
                KvErrorKind::Internal,
                operation,
                format!("directory {directory}: the write was refused"),
            );
        };
        let (kind, message) = match trouble.until {
            None => (
                KvErrorKind::ReadOnly,
                "an earlier write failed and what is on disk is in doubt; close the engine and open it again",
            ),
            Some(_) if trouble.cause.full => (
                KvErrorKind::NoSpace,
                "the disk is full and nothing was written; make room on its file system",
            ),
            Some(_) => (KvErrorKind::Internal, "the disk refused and nothing was written; look at the cause"),
        };
        KvError::new(kind, operation, format!("directory {directory}: {message}"))
            .with_source(trouble.cause.clone())
    }

    /// The answer to a write of a batch that may be on disk.
    fn unknown(&self, operation: &'static str) -> KvError {
        let message = format!(
            "directory {}: the write failed so late that it may be on disk; close the engine, open it again and read",
            self.ledger.directory().display()
        );
        let error = KvError::new(KvErrorKind::OutcomeUnknown, operation, message);
        match &self.trouble {
            Some(trouble) => error.with_source(trouble.cause.clone()),
            None => error,
        }
    }
}

/// Who asked, for what, and where the answer goes.
type Asker = (&'static str, oneshot::Sender<Result<Done, KvError>>);

/// What is queued, as far as it may share a commit; and the message that ended it.
///
/// A compaction is alone: watches must have been told of all before it, or a quiet one would seem to be overtaken.
fn gather(first: Job, messages: &Receiver<Message>) -> (Vec<Job>, Option<Message>) {
    let mut bytes = size(&first.op);
    let mut alone = is_compaction(&first.op);
    let mut batch = vec![first];
    while !alone && batch.len() < BATCH_REQUESTS && bytes < BATCH_BYTES {
        match messages.try_recv() {
            Ok(Message::Job(job)) if !is_compaction(&job.op) => {
                bytes += size(&job.op);
                batch.push(job);
            }
            Ok(other) => return (batch, Some(other)),
            Err(_) => alone = true,
        }
    }
    (batch, None)
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

/// One cause for many errors.
#[derive(Clone, Debug)]
struct Cause {
    error: Arc<dyn Error + Send + Sync>,
    full: bool,
}

impl Cause {
    fn new(error: BoxError) -> Self {
        let full = is_full(error.as_ref());
        Self { error: Arc::from(error), full }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
