//! Not more writes per second than asked for.

use std::{
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Gives each write a moment of its own, evenly spread. Time that nobody used is not saved up.
#[derive(Debug)]
pub(super) struct Pacer(Option<(Duration, Mutex<Instant>)>);

impl Pacer {
    pub(super) fn new(writes_per_second: Option<NonZeroU32>) -> Self {
        Self(writes_per_second.map(|rate| (Duration::from_secs(1) / rate.get(), Mutex::new(Instant::now()))))
    }

    /// Waits for the next moment.
    pub(super) async fn turn(&self) {
        let Some((interval, next)) = &self.0 else { return };
        let mine = {
            let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = (*next).max(Instant::now());
            *next = mine + *interval;
            mine
        };
        tokio::time::sleep_until(mine).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn moments_are_spread_and_not_saved_up() {
        let pacer = Pacer::new(NonZeroU32::new(10));
        let start = Instant::now();
        for _ in 0..5 {
            pacer.turn().await;
        }
        assert_eq!(start.elapsed(), Duration::from_millis(400));
        tokio::time::sleep(Duration::from_secs(10)).await;
        let start = Instant::now();
        for _ in 0..3 {
            pacer.turn().await;
        }
        assert_eq!(start.elapsed(), Duration::from_millis(200));
        let start = Instant::now();
        Pacer::new(None).turn().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}
