//! A clock that stands still until a test moves it.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use kubestore_kv::{BoxFuture, Clock};
use tokio::sync::watch;

/// A [`Clock`] that only moves when it is told to: deadlines pass at once, and not before.
///
/// Clones share one time, so a test keeps one and gives another to what it tests. Waiting needs no timer and no
/// particular runtime.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use kubestore_conformance::ManualClock;
/// use kubestore_kv::Clock;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let clock = ManualClock::new();
/// let given: Arc<dyn Clock> = Arc::new(clock.clone());
///
/// let alarm = tokio::spawn(given.sleep_until(clock.now() + Duration::from_secs(3600)));
/// clock.advance(Duration::from_secs(3600));
/// alarm.await.unwrap();
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<watch::Sender<SystemTime>>,
}

/// Where a new clock stands: 2024-01-01T00:00:00Z, a whole second, the same in every run.
const FIRST_MOMENT: Duration = Duration::from_secs(1_704_067_200);

impl ManualClock {
    /// A clock that stands at 2024-01-01T00:00:00Z.
    #[must_use]
    pub fn new() -> Self {
        Self::starting_at(SystemTime::UNIX_EPOCH + FIRST_MOMENT)
    }

    /// A clock that stands at `now`.
    #[must_use]
    pub fn starting_at(now: SystemTime) -> Self {
        Self { now: Arc::new(watch::Sender::new(now)) }
    }

    /// Moves the time forward by `by` and wakes everybody whose deadline is reached.
    pub fn advance(&self, by: Duration) {
        self.now.send_modify(|now| *now += by);
    }

    /// Sets the time to `now`, which may be in the past as with a real wall clock, and wakes everybody whose deadline
    /// is reached.
    pub fn set(&self, now: SystemTime) {
        self.now.send_replace(now);
    }

    /// How many waits are under way: started, not completed, not dropped. Lets a test see that nothing it has shut
    /// down still waits.
    #[must_use]
    pub fn sleepers(&self) -> usize {
        self.now.receiver_count()
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *self.now.borrow()
    }

    fn sleep_until(&self, deadline: SystemTime) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        let mut time = self.now.subscribe();
        Box::pin(async move {
            // Fails only when the sender is gone, and `clock` holds it.
            let _reached = time.wait_for(|now| *now >= deadline).await;
            drop(clock);
        })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::task::noop_waker_ref;

    use super::*;

    fn is_ready(future: &mut BoxFuture<'static, ()>) -> bool {
        future.as_mut().poll(&mut std::task::Context::from_waker(noop_waker_ref())).is_ready()
    }

    #[test]
    fn wait_ends_exactly_at_its_deadline() {
        let clock = ManualClock::new();
        let mut wait = clock.sleep_until(clock.now() + Duration::from_secs(5));
        assert!(!is_ready(&mut wait));
        clock.advance(Duration::from_millis(4_999));
        assert!(!is_ready(&mut wait), "one millisecond early");
        clock.advance(Duration::from_millis(1));
        assert!(is_ready(&mut wait), "at the deadline");
    }

    #[test]
    fn past_deadline_is_no_wait() {
        let clock = ManualClock::new();
        assert!(is_ready(&mut clock.sleep_until(clock.now())));
        assert!(is_ready(&mut clock.sleep_until(SystemTime::UNIX_EPOCH)));
    }

    #[test]
    fn clones_share_the_time_and_it_may_go_back() {
        let clock = ManualClock::new();
        let other = clock.clone();
        clock.set(SystemTime::UNIX_EPOCH + Duration::from_secs(7));
        assert_eq!(other.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(7));
    }

    #[test]
    fn sleepers_are_counted_until_they_are_dropped() {
        let clock = ManualClock::new();
        let wait = clock.sleep_until(clock.now() + Duration::from_secs(1));
        assert_eq!(clock.sleepers(), 1);
        drop(wait);
        assert_eq!(clock.sleepers(), 0);
    }

    #[tokio::test]
    async fn waiting_task_is_woken() {
        let clock = ManualClock::new();
        let deadlines = [3, 1, 2].map(|seconds| clock.now() + Duration::from_secs(seconds));
        let waits = deadlines.map(|deadline| tokio::spawn(clock.sleep_until(deadline)));
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(3));
        for wait in waits {
            wait.await.unwrap();
        }
        assert_eq!(clock.sleepers(), 0);
    }
}
