//! Wall clock and waiting, as an argument, so that tests can move time.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use crate::BoxFuture;

/// Where the time comes from.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The wall clock.
    fn now(&self) -> SystemTime;

    /// Completes when [`now`](Self::now) has reached `deadline`; at once if it has already.
    fn sleep_until(&self, deadline: SystemTime) -> BoxFuture<'static, ()>;
}

/// The machine's clock; waits on tokio's timer.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct SystemClock;

/// The longest single wait: a clock that was set forward is noticed after this time.
const LONGEST_NAP: Duration = Duration::from_secs(60);

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn sleep_until(&self, deadline: SystemTime) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            while let Ok(left) = deadline.duration_since(SystemTime::now()) {
                if left.is_zero() {
                    break;
                }
                tokio::time::sleep(left.min(LONGEST_NAP)).await;
            }
        })
    }
}
