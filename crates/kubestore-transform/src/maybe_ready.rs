//! An answer that is there, or one that must be awaited.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::BoxFuture;

/// What a [`Transformer`](crate::Transformer) returns: local ciphers answer at once and without an allocation, a remote
/// key service may have to be awaited.
///
/// It is a future. Code that cannot await takes what is there with [`try_now`](Self::try_now).
#[must_use = "nothing is known before it is awaited"]
pub struct MaybeReady<'a, T>(State<'a, T>);

enum State<'a, T> {
    Ready(Option<T>),
    Later(BoxFuture<'a, T>),
}

impl<'a, T> MaybeReady<'a, T> {
    /// An answer that is there.
    pub fn ready(value: T) -> Self {
        Self(State::Ready(Some(value)))
    }

    /// An answer that must be awaited.
    pub fn later(future: BoxFuture<'a, T>) -> Self {
        Self(State::Later(future))
    }

    /// The answer if it is there.
    ///
    /// # Errors
    /// Itself, if the answer must be awaited.
    ///
    /// # Panics
    /// If the answer was already taken by polling to the end.
    pub fn try_now(self) -> Result<T, Self> {
        match self.0 {
            State::Ready(value) => Ok(taken_once(value)),
            State::Later(_) => Err(self),
        }
    }
}

impl<T> Unpin for MaybeReady<'_, T> {}

impl<T> Future for MaybeReady<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.get_mut().0 {
            State::Ready(value) => Poll::Ready(taken_once(value.take())),
            State::Later(future) => future.as_mut().poll(cx),
        }
    }
}

impl<T> fmt::Debug for MaybeReady<'_, T> {
    /// Says only which of the two it is: the answer may be a decrypted value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Ready(_) => "Ready",
            State::Later(_) => "Later",
        })
    }
}

#[expect(clippy::expect_used, reason = "polling a future after it is complete is a fault of the caller")]
fn taken_once<T>(value: Option<T>) -> T {
    value.expect("polled after completion")
}
