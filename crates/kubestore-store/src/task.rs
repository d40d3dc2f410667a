//! Tasks that end with whoever waits for them.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use tokio::task::{JoinError, JoinHandle};

/// A task of the runtime that is stopped when this is dropped.
pub(crate) struct Task<R>(JoinHandle<R>);

impl<R: Send + 'static> Task<R> {
    pub(crate) fn spawn(work: impl Future<Output = R> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl<R> Future for Task<R> {
    type Output = Result<R, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<R> Drop for Task<R> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
