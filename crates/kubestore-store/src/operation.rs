//! The trace of one operation: a span, its steps as events, and one log line when it was slow.

use std::{
    fmt,
    time::{Duration, Instant},
};

use tracing::Span;

/// More steps than any operation takes without conflicts; later ones are traced but not in the line.
const KEPT_STEPS: usize = 12;

/// One operation under way.
pub(crate) struct Operation {
    name: &'static str,
    key: String,
    span: Span,
    started: Instant,
    threshold: Duration,
    steps: [Option<Step>; KEPT_STEPS],
    count: usize,
}

#[derive(Clone, Copy)]
struct Step {
    name: &'static str,
    at: Duration,
    size: usize,
}

impl Operation {
    /// `span` is the operation's own; `threshold` is how long it may take unremarked.
    pub(crate) fn new(name: &'static str, key: &str, span: Span, threshold: Duration) -> Self {
        Self {
            name,
            key: key.to_owned(),
            span,
            started: Instant::now(),
            threshold,
            steps: [None; KEPT_STEPS],
            count: 0,
        }
    }

    /// The operation's span, to run its futures in.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// A step is done; `size` is in bytes or objects, whichever the step moves.
    pub(crate) fn step(&mut self, name: &'static str, size: usize) {
        tracing::trace!(parent: &self.span, size, "{name}");
        if let Some(slot) = self.steps.get_mut(self.count) {
            *slot = Some(Step { name, at: self.started.elapsed(), size });
        }
        self.count += 1;
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        if took < self.threshold {
            return;
        }
        tracing::warn!(
            parent: &self.span,
            operation = self.name,
            key = self.key,
            took_ms = milliseconds(took),
            steps = %Steps(&self.steps),
            "slow storage operation"
        );
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Each step with its size and the time since the step before.
struct Steps<'a>(&'a [Option<Step>]);

impl fmt::Display for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = Duration::ZERO;
        for (position, step) in self.0.iter().flatten().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            let took = milliseconds(step.at.saturating_sub(before));
            write!(f, "{comma}{} ({}) {took} ms", step.name, step.size)?;
            before = step.at;
        }
        Ok(())
    }
}

/// The span of an operation on a store.
macro_rules! operation {
    ($inner:expr, $name:literal, $key:expr $(, $($fields:tt)*)?) => {{
        let span = tracing::info_span!(
            $name,
            key = %$key,
            group = %$inner.resource.group,
            resource = %$inner.resource.resource,
            r#type = std::any::type_name::<T>(),
            $($($fields)*)?
        );
        $crate::operation::Operation::new($name, $key, span, $inner.slow_operation)
    }};
}
pub(crate) use operation;
