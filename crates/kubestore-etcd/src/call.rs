//! One call: its deadline, who is asked next when nobody answers, and a new token when the old one is refused.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout_at};

use crate::{auth::MAX_RENEWALS, backoff::Backoff, error::Failure, kv::Shared, pool::Member};

impl Shared {
    /// Asks until somebody answers: each endpoint at once, then again after pauses, within the limits of the options.
    /// For calls that change nothing.
    pub(crate) async fn read<T, F, Fut>(&self, operation: &'static str, call: F) -> Result<T, Failure>
    where
        F: Fn(Arc<Member>) -> Fut,
        Fut: Future<Output = Result<T, etcd_client::Error>>,
    {
        let deadline = Instant::now() + self.options.request_timeout;
        let mut renewals = 0;
        loop {
            let token = self.tokens.generation();
            match self.ask(operation, deadline, &call).await {
                Err(failure) if self.may_renew(&failure, renewals) => {
                    renewals += 1;
                    self.renew_token(token, deadline).await?;
                }
                answered => return answered,
            }
        }
    }

    /// As [`read`](Self::read), with the token as it is.
    pub(crate) async fn ask<T, F, Fut>(
        &self,
        operation: &'static str,
        deadline: Instant,
        call: F,
    ) -> Result<T, Failure>
    where
        F: Fn(Arc<Member>) -> Fut,
        Fut: Future<Output = Result<T, etcd_client::Error>>,
    {
        let begin = Instant::now();
        let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));
        let mut tried = 0;
        loop {
            let member = Arc::clone(self.pool.current());
            let failure = match timeout_at(deadline, call(Arc::clone(&member))).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => Failure::from(error),
                Err(_) => {
                    let failure = Failure::deadline(self.options.request_timeout);
                    self.pool.leave(&member, &failure);
                    return Err(failure);
                }
            };
            if !failure.is_the_members() {
                return Err(failure);
            }
            self.pool.leave(&member, &failure);
            tried += 1;
            if tried % self.pool.len() != 0 {
                continue;
            }
            let pause = backoff.pause();
            let again = Instant::now() + pause;
            if failure.needs_help() || again >= deadline || again >= begin + self.options.retry_for {
                return Err(failure);
            }
            tracing::debug!(operation, endpoint = member.url, tried, ?pause, %failure, "read is tried again");
            sleep(pause).await;
        }
    }

    /// Sends the request once. Only where it is certain that no server acted on it is it sent again: to the next
    /// endpoint where no connection came about, and with a new token where the old one was refused.
    pub(crate) async fn write<R, T, F, Fut>(&self, request: R, call: F) -> Result<T, Failure>
    where
        R: Clone,
        F: Fn(Arc<Member>, R) -> Fut,
        Fut: Future<Output = Result<T, etcd_client::Error>>,
    {
        let deadline = Instant::now() + self.options.request_timeout;
        let mut request = Some(request);
        let mut renewals = 0;
        loop {
            let token = self.tokens.generation();
            let last = !self.tokens.can_renew() || renewals == MAX_RENEWALS;
            match self.send(deadline, &mut request, last, &call).await {
                Err(failure) if self.may_renew(&failure, renewals) => {
                    renewals += 1;
                    self.renew_token(token, deadline).await.map_err(Failure::before_the_write)?;
                }
                answered => return answered,
            }
        }
    }

    /// Offers the request to one endpoint after the other until one of them has a connection.
    async fn send<R, T, F, Fut>(
        &self,
        deadline: Instant,
        request: &mut Option<R>,
        last: bool,
        call: &F,
    ) -> Result<T, Failure>
    where
        R: Clone,
        F: Fn(Arc<Member>, R) -> Fut,
        Fut: Future<Output = Result<T, etcd_client::Error>>,
    {
        let mut others = self.pool.len() - 1;
        loop {
            let member = Arc::clone(self.pool.current());
            // The last attempt takes the request, so that its bytes move; earlier ones must leave it.
            let sent = if last && others == 0 { request.take() } else { request.clone() };
            let Some(sent) = sent else { return Err(Failure::malformed("no request left")) };
            let failure = match timeout_at(deadline, call(Arc::clone(&member), sent)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => Failure::from(error),
                Err(_) => Failure::deadline(self.options.request_timeout),
            };
            if failure.is_unreachable() {
                self.pool.leave(&member, &failure);
            }
            if others == 0 || !failure.was_not_sent() {
                return Err(failure);
            }
            others -= 1;
            tracing::debug!(endpoint = member.url, %failure, "write goes to the next endpoint");
        }
    }

    /// A call that is meant for one member, and made once more if that does not know the token, as after its restart.
    pub(crate) async fn of_member<T, F, Fut>(&self, call: F) -> Result<T, Failure>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<T, Failure>>,
    {
        let token = self.tokens.generation();
        match call().await {
            Err(failure) if self.may_renew(&failure, 0) => {
                self.renew_token(token, Instant::now() + self.options.request_timeout).await?;
                call().await
            }
            answered => answered,
        }
    }

    /// Whether `failure` is one that a new token may mend.
    fn may_renew(&self, failure: &Failure, renewals: usize) -> bool {
        failure.wants_token() && self.tokens.can_renew() && renewals < MAX_RENEWALS
    }
}
