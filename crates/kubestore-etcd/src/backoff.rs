//! Waiting longer after each failure, and never in step with others.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// Pauses that double from `base` up to `max`, each shortened at random by up to half, so that many clients of one
/// restarted server do not come back at the same moment.
#[derive(Debug)]
pub(crate) struct Backoff {
    base: Duration,
    max: Duration,
    failures: u32,
}

impl Backoff {
    pub(crate) fn new(base: Duration, max: Duration) -> Self {
        Self { base, max, failures: 0 }
    }

    /// The pause after one more failure.
    pub(crate) fn pause(&mut self) -> Duration {
        let full = self.base.saturating_mul(1 << self.failures.min(16)).min(self.max);
        self.failures = self.failures.saturating_add(1);
        full.mul_f64(1.0 - random_fraction() / 2.0)
    }

    /// Begins again with the shortest pause.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

/// A number in `0.0..1.0`. The standard library seeds each thread's hasher from the system and steps it with each
/// use, which is random enough to keep clients apart.
fn random_fraction() -> f64 {
    let bits = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(bits >> 32).unwrap_or(u32::MAX)) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_maximum_and_are_at_most_halved() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(500));
        for full in [100_u64, 200, 400, 500, 500] {
            let pause = backoff.pause();
            assert!(pause <= Duration::from_millis(full), "{pause:?} of {full}");
            assert!(pause >= Duration::from_millis(full / 2), "{pause:?} of {full}");
        }
        backoff.reset();
        assert!(backoff.pause() <= Duration::from_millis(100));
    }

    #[test]
    fn two_clients_do_not_wait_alike() {
        let pauses: Vec<_> =
            (0..20).map(|_| Backoff::new(Duration::from_secs(1), Duration::from_secs(1)).pause()).collect();
        assert!(pauses.iter().any(|pause| pause != &pauses[0]), "{pauses:?}");
    }
}
