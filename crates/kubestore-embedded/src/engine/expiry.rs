//! The task that ends leases when their time has come.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::{Either, select};
use kubestore_kv::{KvError, KvErrorKind};
use tokio::{runtime::Handle, task::JoinHandle};

use super::Core;
use crate::state::Op;

/// How long after a failure the next attempt is made.
const RETRY: Duration = Duration::from_secs(1);

/// Owner of the task; stops it when dropped.
#[derive(Default)]
pub(crate) struct Expiry {
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Expiry {
    /// Starts the task in the caller's runtime, unless it runs already.
    pub(crate) fn ensure(&self, operation: &'static str, core: &Arc<Core>) -> Result<(), KvError> {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_some_and(|task| !task.is_finished()) {
            return Ok(());
        }
        let runtime = Handle::try_current().map_err(|cause| {
            let message = "leases need a tokio runtime with its timer; call this from within one";
            KvError::new(KvErrorKind::Unsupported, operation, message).with_source(cause)
        })?;
        *task = Some(runtime.spawn(run(Arc::clone(core))));
        Ok(())
    }

    pub(crate) fn stop(&self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}

impl Drop for Expiry {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expiry").finish_non_exhaustive()
    }
}

async fn run(core: Arc<Core>) {
    while let Ok(shared) = core.shared("expire") {
        // A grant between the look at the deadlines and the wait is not missed: the notification is kept.
        let changed = shared.leases_changed.notified();
        let Some(deadline) = shared.snapshot().leases.next_deadline() else {
            changed.await;
            continue;
        };
        let clock = &shared.options.clock;
        let reached = clock.sleep_until(deadline);
        if let Either::Left(_) = select(std::pin::pin!(changed), reached).await {
            continue;
        }
        if let Err(error) = core.write("expire", Op::Expire).await {
            tracing::warn!(%error, "leases that have ended cannot be taken away; trying again");
            clock.sleep_until(clock.now() + RETRY).await;
        }
    }
}
