//! The task that ends leases when their time has come.

use std::{
    fmt,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{
    future::{Either, select},
    pin_mut,
};
use kubestore_kv::{BoxFuture, KvError, KvErrorKind};
use tokio::{runtime::Handle, task::JoinHandle};

use super::Shared;

/// Owner of the task; stops it when dropped.
#[derive(Default)]
pub(crate) struct Expiry {
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Expiry {
    /// Starts the task in the caller's runtime, unless it runs already. `expire` ends what has to end; `false` from it
    /// ends the task.
    pub(crate) fn ensure<F>(&self, shared: &Arc<Shared>, expire: F) -> Result<(), KvError>
    where
        F: Fn() -> BoxFuture<'static, bool> + Send + Sync + 'static,
    {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if task.as_ref().is_some_and(|task| !task.is_finished()) {
            return Ok(());
        }
        let runtime = Handle::try_current().map_err(|cause| {
            let message = "leases need a tokio runtime with its timer; call this from within one";
            KvError::new(KvErrorKind::Unsupported, "grant_lease", message).with_source(cause)
        })?;
        *task = Some(runtime.spawn(run(Arc::clone(shared), expire)));
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

async fn run<F, E>(shared: Arc<Shared>, expire: F)
where
    F: Fn() -> E,
    E: Future<Output = bool>,
{
    loop {
        // Made before the look at the deadlines: a grant in between is not missed, because the permit is kept.
        let changed = shared.leases_changed.notified();
        let Some(deadline) = shared.snapshot().leases.next_deadline() else {
            changed.await;
            continue;
        };
        let reached = shared.options.clock.sleep_until(deadline);
        pin_mut!(changed);
        if let Either::Right(_) = select(changed, reached).await
            && !expire().await
        {
            return;
        }
    }
}
