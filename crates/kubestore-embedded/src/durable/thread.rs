//! The handle of the writer thread: opens the directory on it, queues requests, waits for answers and for the end.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Sender},
    },
    thread::JoinHandle,
};

use kubestore_kv::{KvError, KvErrorKind};
use tokio::sync::{oneshot, watch};

use super::{
    directory::{Directory, directory_error},
    ledger::Ledger,
    worker::Worker,
};
use crate::{
    engine::{Options, Shared},
    state::{Done, Op, State},
    watch::closed,
};

/// One request to the writer.
pub(super) struct Job {
    pub(super) operation: &'static str,
    pub(super) op: Op,
    pub(super) reply: oneshot::Sender<Result<Done, KvError>>,
}

/// What the writer is told.
pub(super) enum Message {
    Job(Job),
    /// End after what was queued before.
    Close,
}

/// Whether the writer is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    Ended,
    Panicked,
}

/// The handle of the writer thread.
pub(crate) struct Thread {
    queue: Sender<Message>,
    directory: PathBuf,
    join: Mutex<Option<JoinHandle<()>>>,
    /// Told when the thread has let go of the directory.
    life: watch::Receiver<Life>,
}

impl Thread {
    /// Opens `path` on a thread of its own, which then becomes its writer.
    pub(crate) async fn open(path: &Path, options: Options) -> Result<(Self, Arc<Shared>), KvError> {
        let reserve = options.reserve_bytes;
        Self::start(path, options, move |path| Ledger::open(path, reserve)).await
    }

    /// The same with another way of opening.
    pub(super) async fn start<F>(
        path: &Path,
        options: Options,
        open: F,
    ) -> Result<(Self, Arc<Shared>), KvError>
    where
        F: FnOnce(&Path) -> Result<(Ledger, State), KvError> + Send + 'static,
    {
        let (queue, jobs) = mpsc::channel();
        let (opened, opening) = oneshot::channel();
        let (ending, life) = watch::channel(Life::Running);
        let target = path.to_owned();
        let run = move || {
            let _ending = Ending(ending);
            let (ledger, state) = match open(&target) {
                Ok(opened) => opened,
                Err(error) => {
                    // Nobody waits for an opening whose future was dropped.
                    let _ = opened.send(Err(error));
                    return;
                }
            };
            let shared = Arc::new(Shared::new(options, state));
            let directory = ledger.directory().to_owned();
            let worker = Worker::new(Arc::clone(&shared), ledger);
            if opened.send(Ok((shared, directory))).is_ok() {
                worker.run(&jobs);
            }
        };
        let failed = |error: std::io::Error| {
            directory_error(KvErrorKind::Internal, path, "no thread for its writer").with_source(error)
        };
        let join =
            std::thread::Builder::new().name("kubestore-writer".to_owned()).spawn(run).map_err(failed)?;
        match opening.await {
            Ok(Ok((shared, directory))) => {
                let join = Mutex::new(Some(join));
                Ok((Self { queue, directory, join, life }, shared))
            }
            Ok(Err(error)) => Err(error),
            Err(_) => {
                let message = "what is in data is damaged in a way that the database underneath does not stand; \
                               restore the directory from a backup";
                Err(directory_error(KvErrorKind::Corrupt, path, message))
            }
        }
    }

    /// Bytes that the directory takes on disk, as far as it can be read.
    pub(crate) fn disk_bytes(&self) -> Option<u64> {
        Directory::size(&self.directory).ok()
    }

    /// Queues a request and waits until it is durable. When the future is dropped, the request stays queued.
    pub(crate) async fn submit(&self, operation: &'static str, op: Op) -> Result<Done, KvError> {
        let (reply, answer) = oneshot::channel();
        if self.queue.send(Message::Job(Job { operation, op, reply })).is_err() {
            return Err(closed(operation));
        }
        match answer.await {
            Ok(answer) => answer,
            // The writer answers whatever it takes off the queue, unless it panics.
            Err(_) if *self.life.borrow() == Life::Ended => Err(closed(operation)),
            Err(_) => {
                let message = "the writer ended before it answered; open the directory again and read";
                Err(KvError::new(KvErrorKind::OutcomeUnknown, operation, message))
            }
        }
    }

    /// Tells the writer to end after what is queued.
    pub(crate) fn close(&self) {
        // It has ended already if nobody receives.
        let _ = self.queue.send(Message::Close);
    }

    /// Completes when the directory is free.
    pub(crate) async fn finished(&self) {
        let mut life = self.life.clone();
        // An error means that the sender is gone, and with it the thread.
        let _ = life.wait_for(|life| *life != Life::Running).await;
    }

    /// The same, without a runtime.
    pub(crate) fn join(&self) {
        let thread = self.join.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!(directory = %self.directory.display(), "the writer panicked");
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// Tells that the thread has let go of everything, also when it panics.
struct Ending(watch::Sender<Life>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.send_replace(if std::thread::panicking() { Life::Panicked } else { Life::Ended });
    }
}
