//! What can go wrong with a call, and who decides it.

use std::{fmt, time::Duration};

use kubestore_kv::{BoxFuture, KvErrorKind};

use super::Call;

/// What happens to one call. By default nothing: it goes through.
///
/// In this order: wait or do something, fail *or* pass the call on, wait or do something, lose the answer, and later
/// cut the stream that the call gave. Or nobody waits: the caller is told that nobody knows, and the call goes on alone.
///
/// ```
/// use kubestore_conformance::Fault;
/// use kubestore_kv::KvErrorKind;
///
/// let refused = Fault::fail(KvErrorKind::Unavailable);
/// let applied_but_unknown = Fault::lose_answer();
/// let cut = Fault::none().cut_after(3, KvErrorKind::Unavailable);
/// ```
#[derive(Default)]
#[must_use]
pub struct Fault {
    pub(crate) before: Option<BoxFuture<'static, ()>>,
    pub(crate) fail: Option<KvErrorKind>,
    pub(crate) after: Option<BoxFuture<'static, ()>>,
    pub(crate) lose_answer: bool,
    pub(crate) cut: Option<(usize, KvErrorKind)>,
    pub(crate) late: Option<BoxFuture<'static, ()>>,
}

impl Fault {
    /// The call goes through.
    pub fn none() -> Self {
        Self::default()
    }

    /// The call fails with an error of `kind` and the backend never hears of it.
    pub fn fail(kind: KvErrorKind) -> Self {
        Self { fail: Some(kind), ..Self::default() }
    }

    /// The backend does what it was asked, and the answer is lost:
    /// [`OutcomeUnknown`](KvErrorKind::OutcomeUnknown) for what changes something, else
    /// [`DeadlineExceeded`](KvErrorKind::DeadlineExceeded).
    pub fn lose_answer() -> Self {
        Self { lose_answer: true, ..Self::default() }
    }

    /// The answer is lost at once, as by [`lose_answer`](Self::lose_answer), and the backend hears of the call only
    /// after `wait`: as when a request lies in a queue until a leader is found, long after its client gave up. Needs
    /// tokio's runtime, on which the call goes on in a task of its own.
    pub fn late(wait: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { late: Some(Box::pin(wait)), ..Self::default() }
    }

    /// The call waits for `first` before it goes on: a delay, a gate that the test opens, or a write of somebody else
    /// that comes in between.
    pub fn before(mut self, first: impl Future<Output = ()> + Send + 'static) -> Self {
        self.before = Some(Box::pin(first));
        self
    }

    /// The answer waits for `then` before the caller gets it. Writes that are delayed so are applied in one order and
    /// acknowledged in another.
    pub fn after(mut self, then: impl Future<Output = ()> + Send + 'static) -> Self {
        self.after = Some(Box::pin(then));
        self
    }

    /// [`before`](Self::before) with a wait on tokio's timer.
    pub fn delay(self, by: Duration) -> Self {
        self.before(tokio::time::sleep(by))
    }

    /// The stream of a `watch` or `list_chunks` gives `items` items and then ends with an error of `kind`. No effect
    /// on other calls, nor on a stream that is shorter.
    pub fn cut_after(mut self, items: usize, kind: KvErrorKind) -> Self {
        self.cut = Some((items, kind));
        self
    }

    /// Whether the call goes through as if nothing was in between.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.before.is_none()
            && self.after.is_none()
            && self.fail.is_none()
            && self.cut.is_none()
            && self.late.is_none()
            && !self.lose_answer
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("before", &self.before.is_some())
            .field("fail", &self.fail)
            .field("after", &self.after.is_some())
            .field("lose_answer", &self.lose_answer)
            .field("cut", &self.cut)
            .field("late", &self.late.is_some())
            .finish()
    }
}

/// Decides what happens to each call of a [`FaultyKv`](super::FaultyKv). Closures are scripts.
pub trait Script: Send + Sync + 'static {
    /// The fault of `call`. Asked once, when the call begins.
    fn fault(&self, call: &Call) -> Fault;
}

impl<F: Fn(&Call) -> Fault + Send + Sync + 'static> Script for F {
    fn fault(&self, call: &Call) -> Fault {
        self(call)
    }
}
