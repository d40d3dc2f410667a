//! Waiting for a backend that is away.

use std::time::Duration;

use kubestore_kv::KvError;
use tokio::time::Instant;

/// How long a backend may be away unless said otherwise.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long one thing has been tried in vain.
#[derive(Debug)]
pub(crate) struct Retry {
    patience: Duration,
    since: Option<Instant>,
    pause: Duration,
}

impl Retry {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, since: None, pause: FIRST_PAUSE }
    }

    /// Something went well.
    pub(crate) fn reset(&mut self) {
        self.since = None;
        self.pause = FIRST_PAUSE;
    }

    /// Waits before the next attempt; gives the error back if another one is of no use or the patience is at its end.
    pub(crate) async fn pause(&mut self, error: KvError) -> Result<(), KvError> {
        let since = *self.since.get_or_insert_with(Instant::now);
        if !error.is_retryable() || since.elapsed() + self.pause > self.patience {
            return Err(error);
        }
        tracing::debug!(%error, "trying again");
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
