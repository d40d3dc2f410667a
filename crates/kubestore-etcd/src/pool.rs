//! The members of a cluster that this client knows, and which of them it asks.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use etcd_client::{Channel, Client, ConnectOptions, KvClient, LeaseClient, MaintenanceClient, WatchClient};
use kubestore_kv::KvError;

#[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
use crate::tls::TlsSource;
use crate::{
    auth::Tokens,
    channel::{lazy, lazy_for_streams, with_token},
    connect::Target,
    error::Failure,
    health::Health,
    options::{EtcdOptions, OPEN},
};

/// One endpoint with connections of its own, made when first used and again after they broke.
///
/// Watches have a connection apart from calls: a stream that is read slowly fills the connection's window, and only
/// watches may carry the demand for a leader. So have lists that come as streams, which are read as slowly as their
/// consumers like.
pub(crate) struct Member {
    pub(crate) url: String,
    pub(crate) kv: KvClient,
    /// On a connection of its own, for answers that come as streams.
    pub(crate) bulk: KvClient,
    pub(crate) lease: LeaseClient,
    pub(crate) maintenance: MaintenanceClient,
    pub(crate) watch: WatchClient,
    /// On the connection of the watches.
    pub(crate) watch_maintenance: MaintenanceClient,
    /// Requests of other kinds.
    #[cfg(feature = "testing")]
    pub(crate) transport: crate::channel::Transport,
    /// Requests without a token, to get one.
    pub(crate) bare: tonic::transport::Channel,
    /// The server's version once it told.
    version: Mutex<Option<String>>,
    health: Health,
    index: usize,
}

impl Member {
    async fn new(
        index: usize,
        target: &Arc<Target>,
        url: String,
        options: &EtcdOptions,
        tokens: &Arc<Tokens>,
    ) -> Result<Self, Failure> {
        let bare = lazy(&url, target, options)?;
        let transport = with_token(bare.clone(), tokens);
        let data = Client::from_channel(Channel::Custom(transport.clone()), None).await?;
        let watch = Channel::Custom(with_token(lazy(&url, target, options)?, tokens));
        let demanding = ConnectOptions::new().with_require_leader(true);
        let watch = Client::from_channel(watch, Some(demanding)).await?;
        let bulk = with_token(lazy_for_streams(&url, target, options)?, tokens);
        let bulk = Client::from_channel(Channel::Custom(bulk), None).await?;
        Ok(Self {
            bulk: bulk.kv_client().max_decoding_message_size(options.max_response_bytes),
            kv: data.kv_client().max_decoding_message_size(options.max_response_bytes),
            lease: data.lease_client(),
            maintenance: data.maintenance_client(),
            watch: watch.watch_client().max_decoding_message_size(options.max_response_bytes),
            watch_maintenance: watch.maintenance_client(),
            #[cfg(feature = "testing")]
            transport,
            bare,
            version: Mutex::new(None),
            health: Health::default(),
            url,
            index,
        })
    }

    pub(crate) fn version(&self) -> Option<String> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn learn_version(&self, version: &str) {
        let mut known = self.version.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_deref() != Some(version) {
            *known = Some(version.to_owned());
        }
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("url", &self.url).finish_non_exhaustive()
    }
}

/// All endpoints. One of them is asked until it fails, then the next that serves.
#[derive(Debug)]
pub(crate) struct Pool {
    members: Vec<Arc<Member>>,
    current: AtomicUsize,
}

impl Pool {
    /// Connects to nobody yet, but reads the files that TLS needs.
    pub(crate) async fn new(
        urls: Vec<String>,
        options: &EtcdOptions,
        tokens: &Arc<Tokens>,
    ) -> Result<Self, KvError> {
        #[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
        let tls = if urls.iter().any(|url| url.starts_with("https://")) {
            Some(Arc::new(TlsSource::new(options.tls.clone().unwrap_or_default())?))
        } else {
            None
        };
        let mut members = Vec::with_capacity(urls.len());
        for (index, url) in urls.into_iter().enumerate() {
            let target = Target::new(
                url.clone(),
                options.dial_timeout,
                #[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
                tls.clone(),
            );
            // On the heap, so that connecting is not a large future.
            let member = Box::pin(Member::new(index, &Arc::new(target), url, options, tokens)).await;
            members.push(Arc::new(member.map_err(|failure| failure.read(OPEN, None))?));
        }
        Ok(Self { members, current: AtomicUsize::new(0) })
    }

    /// As configured; never empty.
    pub(crate) fn members(&self) -> &[Arc<Member>] {
        &self.members
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// The member to ask.
    pub(crate) fn current(&self) -> &Arc<Member> {
        &self.members[self.current.load(Ordering::Relaxed) % self.members.len()]
    }

    /// `member` answered: ask it from now on.
    pub(crate) fn prefer(&self, member: &Member) {
        self.current.store(member.index, Ordering::Relaxed);
    }

    /// `member` failed: ask the next one that serves, unless somebody else has already moved on. Where none does it is
    /// just the next: it may have come back unnoticed.
    pub(crate) fn leave(&self, member: &Arc<Member>, why: &Failure) {
        if self.members.len() == 1 {
            return;
        }
        let next = self.after(member);
        let moved =
            self.current.compare_exchange(member.index, next.index, Ordering::Relaxed, Ordering::Relaxed);
        if member.health.leave_out(member) {
            tracing::warn!(endpoint = member.url, failure = %why, "endpoint does not serve and is left out");
        }
        if moved.is_ok() {
            tracing::debug!(endpoint = next.url, "endpoint is used from now on");
        }
    }

    fn after(&self, member: &Member) -> &Arc<Member> {
        let count = self.members.len();
        let nth = |step: usize| &self.members[(member.index + step) % count];
        (1..count).map(nth).find(|other| other.health.is_good()).unwrap_or_else(|| nth(1))
    }

    /// The endpoints as text, for errors and logs.
    pub(crate) fn describe(&self) -> String {
        self.members.iter().map(|member| member.url.as_str()).collect::<Vec<_>>().join(", ")
    }
}
