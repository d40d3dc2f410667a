//! One call: its deadline, and who is asked next when nobody answers.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout};

use crate::{backoff::Backoff, error::Failure, kv::Shared, pool::Member};

impl Shared {
    /// Asks until somebody answers: each endpoint at once, then again after pauses, within the limits of the options.
    /// For calls that change nothing.
    pub(crate) async fn read<T, F, Fut>(&self, operation: &'static str, call: F) -> Result<T, Failure>
    where
        F: Fn(Arc<Member>) -> Fut,
        Fut: Future<Output = Result<T, etcd_client::Error>>,
    {
        let begin = Instant::now();
        let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));
        let mut tried = 0;
        loop {
            let member = Arc::clone(self.pool.current());
            let left = self.options.request_timeout.saturating_sub(begin.elapsed());
            let failure = match timeout(left, call(Arc::clone(&member))).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => Failure::from(error),
                Err(_) => {
                    self.pool.leave(&member);
                    return Err(Failure::deadline(self.options.request_timeout));
                }
            };
            if !failure.is_unavailable() {
                return Err(failure);
            }
            self.pool.leave(&member);
            tried += 1;
            if tried % self.pool.len() != 0 {
                continue;
            }
            let pause = backoff.pause();
            if begin.elapsed() + pause >= self.options.retry_for.min(self.options.request_timeout) {
                return Err(failure);
            }
            tracing::debug!(operation, endpoint = member.url, tried, ?pause, %failure, "read is tried again");
            sleep(pause).await;
        }
    }

    /// Asks once. Only where no connection came about, so that nothing was sent, is the next endpoint asked.
    pub(crate) async fn write<R, T, F, Fut>(&self, request: R, call: F) -> Result<T, Failure>
    where
        R: Clone,
        F: Fn(Arc<Member>, R) -> Fut,
        Fut: Future<Output = Result<T, etcd_client::Error>>,
    {
        let begin = Instant::now();
        let mut request = Some(request);
        let mut others = self.pool.len() - 1;
        loop {
            let member = Arc::clone(self.pool.current());
            // The last attempt takes the request, so that its bytes move; earlier ones must leave it.
            let sent = if others == 0 { request.take() } else { request.clone() };
            let Some(sent) = sent else { return Err(Failure::malformed("no request left")) };
            let left = self.options.request_timeout.saturating_sub(begin.elapsed());
            let failure = match timeout(left, call(Arc::clone(&member), sent)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => Failure::from(error),
                Err(_) => Failure::deadline(self.options.request_timeout),
            };
            if failure.is_unreachable() {
                self.pool.leave(&member);
            }
            if others == 0 || !failure.was_not_sent() {
                return Err(failure);
            }
            others -= 1;
            tracing::debug!(endpoint = member.url, %failure, "write goes to the next endpoint");
        }
    }
}
