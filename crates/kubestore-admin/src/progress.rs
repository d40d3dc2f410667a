//! How far a job has come.

use std::{fmt, sync::Arc, time::Duration};

use tokio::time::Instant;

/// How far a job has come.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Which pass over the keys this is, from 1. Only a re-encryption has more than one.
    pub pass: u32,
    /// Keys of this pass that are settled.
    pub done: u64,
    /// Keys of this pass, as counted when it began: others may come and go.
    pub total: u64,
    /// Values written in all passes; in a dry run those that would be.
    pub written: u64,
    /// Values that cannot be opened or written, in this pass.
    pub failed: u64,
    /// Since this pass began.
    pub elapsed: Duration,
}

impl Progress {
    /// Settled keys per second in this pass.
    #[must_use]
    pub fn rate(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.done as f64 / seconds } else { 0.0 }
    }

    /// How long the rest of this pass takes at this rate; none before anything is settled.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        let rate = self.rate();
        let left = self.total.saturating_sub(self.done) as f64;
        (rate > 0.0).then(|| Duration::try_from_secs_f64(left / rate).unwrap_or(Duration::MAX))
    }
}

/// Somebody who wants to know.
#[derive(Clone, Default)]
pub(crate) struct Observer(Option<Arc<Observe>>);

type Observe = dyn Fn(&Progress) + Send + Sync;

impl Observer {
    pub(crate) fn new(observe: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observe)))
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Some(_)" } else { "None" })
    }
}

/// The progress of one pass, told as it grows.
#[derive(Debug)]
pub(crate) struct Meter {
    observer: Observer,
    progress: Progress,
    start: Instant,
}

impl Meter {
    pub(crate) fn start(observer: &Observer, pass: u32, total: u64, written: u64) -> Self {
        let progress = Progress { pass, done: 0, total, written, failed: 0, elapsed: Duration::ZERO };
        let meter = Self { observer: observer.clone(), progress, start: Instant::now() };
        meter.tell();
        meter
    }

    /// Changes the progress and tells it.
    pub(crate) fn advance(&mut self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.progress);
        self.progress.elapsed = self.start.elapsed();
        self.tell();
    }

    fn tell(&self) {
        if let Some(observe) = &self.observer.0 {
            observe(&self.progress);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_what_is_left() {
        let mut progress =
            Progress { pass: 1, done: 0, total: 300, written: 0, failed: 0, elapsed: Duration::ZERO };
        assert_eq!((progress.rate(), progress.remaining()), (0.0, None));
        (progress.done, progress.elapsed) = (100, Duration::from_secs(2));
        assert_eq!((progress.rate(), progress.remaining()), (50.0, Some(Duration::from_secs(4))));
        progress.done = 400;
        assert_eq!(progress.remaining(), Some(Duration::ZERO));
    }
}
