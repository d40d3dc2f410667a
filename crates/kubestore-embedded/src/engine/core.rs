//! An engine as a whole: what is shared, its writer, and whether it is closed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use kubestore_kv::KvError;

use super::{Inline, Options, Shared};
use crate::{
    state::{Done, Op, State},
    watch::closed,
};

/// One engine, whoever holds it.
#[derive(Debug)]
pub(crate) struct Core {
    shared: Arc<Shared>,
    writer: Writer,
    closed: AtomicBool,
}

#[derive(Debug)]
enum Writer {
    Inline(Inline),
    #[cfg(feature = "durable")]
    Thread(crate::durable::Thread),
}

impl Core {
    pub(crate) fn in_memory(options: Options) -> Self {
        let shared = Arc::new(Shared::new(options, State::new()));
        Self { shared, writer: Writer::Inline(Inline::default()), closed: AtomicBool::new(false) }
    }

    #[cfg(feature = "durable")]
    pub(crate) async fn open(path: &std::path::Path, options: Options) -> Result<Self, KvError> {
        let (thread, shared) = crate::durable::Thread::open(path, options).await?;
        Ok(Self::durable(thread, shared))
    }

    #[cfg(feature = "durable")]
    pub(crate) fn durable(thread: crate::durable::Thread, shared: Arc<Shared>) -> Self {
        Self { shared, writer: Writer::Thread(thread), closed: AtomicBool::new(false) }
    }

    /// What all use, unless the engine is closed.
    pub(crate) fn shared(&self, operation: &'static str) -> Result<&Arc<Shared>, KvError> {
        if self.is_closed() { Err(closed(operation)) } else { Ok(&self.shared) }
    }

    pub(crate) fn snapshot(&self, operation: &'static str) -> Result<Arc<State>, KvError> {
        Ok(self.shared(operation)?.snapshot())
    }

    /// The newest published state, closed or not.
    pub(crate) fn last_state(&self) -> Arc<State> {
        self.shared.snapshot()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Decides and applies a request; returns once it is as durable as the form makes it.
    #[cfg_attr(not(feature = "durable"), expect(clippy::unused_async, reason = "memory waits for nothing"))]
    pub(crate) async fn write(&self, operation: &'static str, op: Op) -> Result<Done, KvError> {
        let shared = self.shared(operation)?;
        match &self.writer {
            Writer::Inline(inline) => inline.submit(shared, op),
            #[cfg(feature = "durable")]
            Writer::Thread(thread) => thread.submit(operation, op).await,
        }
    }

    /// Sees to it that what a compaction made unreachable goes. The durable form does that by itself.
    pub(crate) async fn clean(&self) {
        match &self.writer {
            Writer::Inline(inline) => inline.clean(&self.shared).await,
            #[cfg(feature = "durable")]
            Writer::Thread(_) => {}
        }
    }

    /// Bytes on disk.
    pub(crate) fn disk_bytes(&self) -> Option<u64> {
        match &self.writer {
            Writer::Inline(_) => None,
            #[cfg(feature = "durable")]
            Writer::Thread(thread) => thread.disk_bytes(),
        }
    }

    /// Refuses everything from now on, ends all watches, and lets the writer end after what is queued.
    pub(crate) fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            self.shared.hub.close();
            #[cfg(feature = "durable")]
            if let Writer::Thread(thread) = &self.writer {
                thread.close();
            }
        }
    }

    /// After [`close`](Self::close): completes when nothing is open any more.
    #[cfg_attr(not(feature = "durable"), expect(clippy::unused_async, reason = "memory waits for nothing"))]
    pub(crate) async fn closed(&self) {
        #[cfg(feature = "durable")]
        if let Writer::Thread(thread) = &self.writer {
            thread.finished().await;
        }
    }

    /// The same, blocking.
    pub(crate) fn join(&self) {
        #[cfg(feature = "durable")]
        if let Writer::Thread(thread) = &self.writer {
            thread.join();
        }
    }
}
