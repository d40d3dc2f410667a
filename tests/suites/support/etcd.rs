//! Etcd processes for the suites.

use std::{
    io,
    sync::{Arc, Weak},
};

use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::Kv;
use tokio::sync::Mutex;

/// The shared one lives as long as a case uses it, so that none is left behind when the tests end.
static SHARED: Mutex<Weak<EtcdProcess>> = Mutex::const_new(Weak::new());

/// The etcd that all cases share which can.
pub(crate) async fn shared() -> Arc<EtcdProcess> {
    let mut shared = SHARED.lock().await;
    if let Some(process) = shared.upgrade() {
        return process;
    }
    let process = Arc::new(start().await);
    *shared = Arc::downgrade(&process);
    process
}

/// An etcd for one case alone.
pub(crate) async fn start() -> EtcdProcess {
    started(EtcdProcess::start().await)
}

/// What came of starting one.
pub(crate) fn started(result: io::Result<EtcdProcess>) -> EtcdProcess {
    match result {
        Ok(process) => process,
        Err(error) => panic!("no etcd to test with: {error}"),
    }
}

/// A client of the etcd at `endpoint`.
pub(crate) async fn connect(endpoint: String) -> Arc<dyn Kv> {
    match EtcdKv::connect([endpoint.clone()]).await {
        Ok(kv) => Arc::new(kv),
        Err(error) => panic!("no connection to {endpoint}: {error:?}"),
    }
}
