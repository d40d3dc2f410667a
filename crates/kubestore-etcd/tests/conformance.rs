//! The suite that every backend passes, against a real etcd.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use async_trait::async_trait;
use kubestore_conformance::{Harness, Instance, Isolation, Unsupported};
use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::Kv;
use tokio::sync::Mutex;

#[derive(Debug)]
struct Etcd;

/// The server of the cases that need not be alone, while one of them runs.
static SHARED: Mutex<Weak<EtcdProcess>> = Mutex::const_new(Weak::new());

async fn shared() -> Arc<EtcdProcess> {
    let mut running = SHARED.lock().await;
    if let Some(etcd) = running.upgrade() {
        return etcd;
    }
    let etcd = Arc::new(EtcdProcess::start().await.unwrap());
    *running = Arc::downgrade(&etcd);
    etcd
}

#[async_trait]
impl Harness for Etcd {
    fn name(&self) -> &str {
        "etcd"
    }

    async fn start(&self, isolation: Isolation) -> Result<Box<dyn Instance>, Unsupported> {
        let etcd = match isolation {
            Isolation::Shared => shared().await,
            _ => Arc::new(EtcdProcess::start().await.unwrap()),
        };
        let kv = Arc::new(EtcdKv::connect([etcd.endpoint()]).await.unwrap());
        Ok(Box::new(Running { etcd, kv }))
    }
}

#[derive(Debug)]
struct Running {
    etcd: Arc<EtcdProcess>,
    kv: Arc<EtcdKv>,
}

#[async_trait]
impl Instance for Running {
    fn kv(&self) -> Arc<dyn Kv> {
        Arc::<EtcdKv>::clone(&self.kv)
    }

    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported> {
        tokio::time::sleep(by).await;
        Ok(())
    }

    async fn restart(&mut self) -> Result<(), Unsupported> {
        match Arc::get_mut(&mut self.etcd) {
            Some(etcd) => etcd.restart().await.unwrap(),
            None => return Err(Unsupported::new("others use this server")),
        }
        self.kv = Arc::new(EtcdKv::connect([self.etcd.endpoint()]).await.unwrap());
        Ok(())
    }
}

kubestore_conformance::kv_suite!(etcd, crate::Etcd);
