//! The members of a cluster that this client knows, and which of them it asks.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use etcd_client::{Client, ConnectOptions, KvClient, LeaseClient, MaintenanceClient, WatchClient};

use crate::{error::Failure, options::EtcdOptions};

/// One endpoint with connections of its own, made when first used and again after they broke.
///
/// Watches have a connection apart from calls: a stream that is read slowly fills the connection's window, and only
/// watches may carry the demand for a leader.
pub(crate) struct Member {
    pub(crate) url: String,
    pub(crate) kv: KvClient,
    pub(crate) lease: LeaseClient,
    pub(crate) maintenance: MaintenanceClient,
    pub(crate) watch: WatchClient,
    /// The server's version once it told.
    version: Mutex<Option<String>>,
    index: usize,
}

impl Member {
    async fn new(index: usize, url: String, options: &EtcdOptions) -> Result<Self, Failure> {
        let connect = ConnectOptions::new()
            .with_keep_alive(options.keepalive_interval, options.keepalive_timeout)
            .with_keep_alive_while_idle(false)
            .with_connect_timeout(options.dial_timeout);
        let data = Client::connect([&url], Some(connect.clone())).await?;
        let watch = Client::connect([&url], Some(connect.with_require_leader(true))).await?;
        Ok(Self {
            kv: data.kv_client().max_decoding_message_size(options.max_response_bytes),
            lease: data.lease_client(),
            maintenance: data.maintenance_client(),
            watch: watch.watch_client().max_decoding_message_size(options.max_response_bytes),
            version: Mutex::new(None),
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

/// All endpoints. One of them is asked until it fails, then the next.
#[derive(Debug)]
pub(crate) struct Pool {
    members: Vec<Arc<Member>>,
    current: AtomicUsize,
}

impl Pool {
    /// Connects to nobody yet.
    pub(crate) async fn new(urls: Vec<String>, options: &EtcdOptions) -> Result<Self, Failure> {
        let mut members = Vec::with_capacity(urls.len());
        for (index, url) in urls.into_iter().enumerate() {
            members.push(Arc::new(Member::new(index, url, options).await?));
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

    /// `member` failed: ask the one after it, unless somebody else has already moved on.
    pub(crate) fn leave(&self, member: &Member) {
        let next = (member.index + 1) % self.members.len();
        let _moved = self.current.compare_exchange(member.index, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The endpoints as text, for errors and logs.
    pub(crate) fn describe(&self) -> String {
        self.members.iter().map(|member| member.url.as_str()).collect::<Vec<_>>().join(", ")
    }
}
