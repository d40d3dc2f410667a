//! Backends for stores under test.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use kubestore_conformance::{Isolation, ManualClock, storage::StoreOptions};
use kubestore_embedded::Embedded;
use kubestore_etcd::testing::EtcdProcess;
use kubestore_kv::Kv;
use tempfile::TempDir;

use crate::support::etcd;

/// Where a store keeps its objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Backend {
    Durable,
    Etcd,
    Memory,
}

/// A backend for one case.
pub(crate) struct Started {
    pub(crate) kv: Arc<dyn Kv>,
    /// Its clock, where that can be moved.
    pub(crate) clock: Option<ManualClock>,
    /// What has to live as long as the backend is used.
    pub(crate) _keep: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").field("kv", &self.kv).finish_non_exhaustive()
    }
}

impl Backend {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Durable => "durable",
            Self::Etcd => "etcd",
            Self::Memory => "memory",
        }
    }

    pub(crate) async fn start(self, options: &StoreOptions) -> Started {
        if matches!(self, Self::Etcd) {
            return start_etcd(options).await;
        }
        let clock = ManualClock::new();
        let interval = options.progress_interval.unwrap_or(Duration::from_secs(600));
        let builder = Embedded::builder().clock(Arc::new(clock.clone())).progress_interval(interval);
        if matches!(self, Self::Memory) {
            let kv = Arc::new(builder.in_memory());
            return Started { kv, clock: Some(clock), _keep: Box::new(()) };
        }
        let directory = match TempDir::with_prefix("kubestore-store-") {
            Ok(directory) => directory,
            Err(error) => panic!("no directory to test in: {error}"),
        };
        match builder.open(directory.path()).await {
            Ok(kv) => Started { kv: Arc::new(kv), clock: Some(clock), _keep: Box::new(directory) },
            Err(error) => panic!("{} does not open: {error:?}", directory.path().display()),
        }
    }
}

async fn start_etcd(options: &StoreOptions) -> Started {
    let (endpoint, keep): (String, Box<dyn Any + Send + Sync>) = match options.progress_interval {
        None if options.isolation == Isolation::Shared => {
            let process = etcd::shared().await;
            (process.endpoint(), Box::new(process))
        }
        None => {
            let process = etcd::start().await;
            (process.endpoint(), Box::new(process))
        }
        Some(interval) => {
            let process = start_with_progress_every(interval).await;
            (process.endpoint(), Box::new(process))
        }
    };
    Started { kv: etcd::connect(endpoint).await, clock: None, _keep: keep }
}

/// An etcd for one case alone, which tells progress so often to watches that ask for it.
async fn start_with_progress_every(interval: Duration) -> EtcdProcess {
    let flag = format!("watch-progress-notify-interval={}s", interval.as_secs());
    match EtcdProcess::start_with([format!("--{flag}")]).await {
        Ok(process) => process,
        // Its name up to 3.5.
        Err(_) => etcd::started(EtcdProcess::start_with([format!("--experimental-{flag}")]).await),
    }
}
