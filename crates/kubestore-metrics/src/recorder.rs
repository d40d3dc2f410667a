//! Where measurements go.

use std::{fmt, sync::Arc};

use crate::Event;

/// Takes what the other crates measure.
///
/// It has one method, so that a new metric is a new variant of [`Event`] and breaks nobody.
///
/// # Contract
/// `record` is called on the path of every operation, from many threads at once: it must return quickly, must not block
/// on I/O, and must not panic. What an event borrows ends with the call.
pub trait Recorder: fmt::Debug + Send + Sync + 'static {
    /// Takes one measurement.
    fn record(&self, event: Event<'_>);
}

/// Forgets everything.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn record(&self, _event: Event<'_>) {}
}

#[deny(clippy::missing_trait_methods)]
impl<R: Recorder + ?Sized> Recorder for Arc<R> {
    fn record(&self, event: Event<'_>) {
        (**self).record(event);
    }
}
