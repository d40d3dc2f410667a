//! Reading where it holds up no other task.

use futures_util::stream;
use kubestore_kv::{BoxStream, KvError, KvErrorKind};
use tokio::task::{JoinError, spawn_blocking};

/// An item, and what to go on with unless it is the last one.
pub(crate) type Step<S, T> = (Result<T, KvError>, Option<S>);

/// Fails only if the runtime stops.
pub(crate) async fn run<T: Send + 'static>(
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    spawn_blocking(read).await
}

/// The answer to a request.
pub(crate) async fn answer<T: Send + 'static>(
    operation: &'static str,
    read: impl FnOnce() -> Result<T, KvError> + Send + 'static,
) -> Result<T, KvError> {
    run(read).await.unwrap_or_else(|cause| Err(stopped(operation, cause)))
}

/// What comes step by step.
pub(crate) fn stream<S: Send + 'static, T: Send + 'static>(
    operation: &'static str,
    first: S,
    step: fn(S) -> Step<S, T>,
) -> BoxStream<Result<T, KvError>> {
    Box::pin(stream::unfold(Some(first), move |state| async move {
        let state = state?;
        Some(run(move || step(state)).await.unwrap_or_else(|cause| (Err(stopped(operation, cause)), None)))
    }))
}

fn stopped(operation: &'static str, cause: JoinError) -> KvError {
    let message = "the runtime stopped before the snapshot was read";
    KvError::new(KvErrorKind::Internal, operation, message).with_source(cause)
}
