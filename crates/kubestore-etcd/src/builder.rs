//! Connecting.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use futures_util::{StreamExt, stream::FuturesUnordered};
use kubestore_kv::{KvError, KvErrorKind};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    EtcdKv, TlsOptions,
    auth::Tokens,
    backoff::Backoff,
    error::Failure,
    health::knock,
    kv::Shared,
    options::{Credentials, EtcdOptions, OPEN, normalize},
    pool::Pool,
};

/// Settings for a connection to etcd. Made by [`EtcdKv::builder`].
///
/// ```no_run
/// # async fn connect() -> Result<(), kubestore_kv::KvError> {
/// use std::time::Duration;
/// use kubestore_etcd::EtcdKv;
///
/// let kv = EtcdKv::builder()
///     .endpoints(["http://127.0.0.1:2379"])
///     .dial_timeout(Duration::from_secs(5))
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until connect"]
pub struct EtcdKvBuilder {
    endpoints: Vec<String>,
    options: EtcdOptions,
}

impl EtcdKvBuilder {
    /// Adds members of one cluster, as `http://host:port` or `host:port`.
    pub fn endpoints<I>(mut self, endpoints: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.endpoints.extend(endpoints.into_iter().map(Into::into));
        self
    }

    /// Encrypts the connections. Endpoints without a scheme are `https` then; `http` ones are refused. For `https`
    /// endpoints without this the default options hold.
    pub fn tls(mut self, options: TlsOptions) -> Self {
        self.options.tls = Some(options);
        self
    }

    /// Authenticates as `user`. The server's token is got when connecting, and anew whenever the server refuses it:
    /// once for all calls and watches that find out at the same time. A wrong password is
    /// [`Unauthenticated`](KvErrorKind::Unauthenticated). Without effect where the server has authentication switched
    /// off. A user that is known by its client certificate needs none of this, see [`TlsOptions::identity`].
    pub fn user(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.options.credentials = Some(Credentials { user: user.into(), password: password.into().into() });
        self
    }

    /// How long [`connect`](Self::connect) waits for a server to answer, and how long a single connection may take to
    /// come up later on. Default: 20 s.
    pub fn dial_timeout(mut self, timeout: Duration) -> Self {
        self.options.dial_timeout = timeout;
        self
    }

    /// How long one call may take; for lists in parts, one part. A read ends in
    /// [`DeadlineExceeded`](KvErrorKind::DeadlineExceeded), a write in
    /// [`OutcomeUnknown`](KvErrorKind::OutcomeUnknown). Default: 60 s. Watches have no such limit once they are
    /// registered.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.options.request_timeout = timeout;
        self
    }

    /// How long a read, or the creation of a watch, is tried again while no server can be reached, before it ends in
    /// [`Unavailable`](KvErrorKind::Unavailable); and how long a watch waits for a leader before it ends in
    /// [`NoLeader`](KvErrorKind::NoLeader). Zero: every endpoint is asked once. Default: 10 s, enough for a restart or
    /// an election. A watch whose servers cannot be reached at all waits for them as long as it is held.
    pub fn retry_for(mut self, limit: Duration) -> Self {
        self.options.retry_for = limit;
        self
    }

    /// How often a connection in use is probed, and how long the probe may take before the connection counts as dead.
    /// Connections that carry no call and no watch are not probed. Default: 30 s and 10 s. etcd cuts off clients that
    /// probe more often than every 5 s, so a shorter interval is refused.
    pub fn keepalive(mut self, interval: Duration, timeout: Duration) -> Self {
        self.options.keepalive_interval = interval;
        self.options.keepalive_timeout = timeout;
        self
    }

    /// The largest request to send, in bytes as encoded; a larger one is [`TooLarge`](KvErrorKind::TooLarge) and
    /// never sent. Set it to the servers' `--max-request-bytes`. `None` or 0 leaves it to the server. Default:
    /// [`DEFAULT_MAX_REQUEST_BYTES`](kubestore_kv::DEFAULT_MAX_REQUEST_BYTES), which is etcd's.
    pub fn max_request_bytes(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.options.max_request_bytes = limit.into().filter(|limit| *limit > 0);
        self
    }

    /// The largest answer to take, in bytes, from 64 KiB up; also of one message of a watch. Lists that do not fit are
    /// read in parts. Default: 2 GiB - 1, as Go's client.
    pub fn max_response_bytes(mut self, limit: usize) -> Self {
        self.options.max_response_bytes = limit;
        self
    }

    /// Keys in the first part of a list in parts; later parts are sized by what came. Default: 500.
    pub fn page_size(mut self, keys: NonZeroU64) -> Self {
        self.options.page_size = keys;
        self
    }

    /// How much of a watch is held for a consumer that lags, in events and in bytes; one message above it is held
    /// whole. Beyond it the watch is taken off the shared stream and resumed, without loss, when the consumer has
    /// caught up. Default: 8,192 events and 16 MiB.
    pub fn watch_buffer(mut self, events: usize, bytes: usize) -> Self {
        self.options.watch_buffer_events = events.max(1);
        self.options.watch_buffer_bytes = bytes.max(1);
        self
    }

    /// Connects, and returns once one of the endpoints has answered and the user is authenticated.
    ///
    /// # Errors
    /// [`InvalidArgument`](KvErrorKind::InvalidArgument) or [`Unsupported`](KvErrorKind::Unsupported) for a bad
    /// address, setting or TLS file, [`Unavailable`](KvErrorKind::Unavailable) when nobody answered within the dial
    /// timeout, [`Unauthenticated`](KvErrorKind::Unauthenticated) at once when all endpoints have certificates that are
    /// not trusted, want or refuse a client certificate, or refuse the password, and what the server said when it
    /// refused.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect(self) -> Result<EtcdKv, KvError> {
        let Self { endpoints, mut options } = self;
        options.check()?;
        let urls = normalize(endpoints, options.tls.as_ref())?;
        let tokens = Arc::new(Tokens::new(options.credentials.take()));
        let pool = Pool::new(urls, &options, &tokens).await?;
        let deadline = Instant::now() + options.dial_timeout;
        dial(&pool, deadline, options.dial_timeout).await?;
        let shared = Shared::new(pool, options, tokens);
        let token = shared.tokens.generation();
        shared.renew_token(token, deadline).await.map_err(|failure| failure.read(OPEN, None))?;
        Ok(EtcdKv { shared: Arc::new(shared) })
    }
}

/// Asks all members at once, again and again, until the first has answered.
async fn dial(pool: &Pool, deadline: Instant, limit: Duration) -> Result<(), KvError> {
    let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));
    let mut last = None;
    loop {
        let mut calls: FuturesUnordered<_> =
            pool.members().iter().map(|member| async move { (member, knock(member, limit).await) }).collect();
        let mut hopeless = true;
        loop {
            match timeout_at(deadline, calls.next()).await {
                Ok(Some((member, Ok(())))) => {
                    pool.prefer(member);
                    return Ok(());
                }
                // Whether there is a leader is for the calls to find out.
                Ok(Some((member, Err(failure)))) if failure.kind == KvErrorKind::NoLeader => {
                    pool.prefer(member);
                    return Ok(());
                }
                Ok(Some((_, Err(failure)))) if failure.is_unreachable() => {
                    hopeless &= failure.needs_help();
                    last = Some(failure);
                }
                Ok(Some((_, Err(failure)))) => return Err(failure.read(OPEN, None)),
                Ok(None) => break,
                Err(_) => return Err(nobody_answered(pool, limit, last)),
            }
        }
        let pause = backoff.pause();
        match last {
            Some(failure) if hopeless => return Err(failure.read(OPEN, None)),
            last if Instant::now() + pause >= deadline => return Err(nobody_answered(pool, limit, last)),
            _ => {}
        }
        tracing::debug!(endpoints = pool.describe(), ?pause, "no etcd answers yet");
        sleep(pause).await;
    }
}

fn nobody_answered(pool: &Pool, limit: Duration, last: Option<Failure>) -> KvError {
    let message = format!(
        "no etcd answered at {} within {limit:?}; check the address, http or https, and that the server runs",
        pool.describe()
    );
    let error = KvError::new(KvErrorKind::Unavailable, OPEN, message);
    match last.and_then(Failure::into_cause) {
        Some(cause) => error.with_source(cause),
        None => error,
    }
}
