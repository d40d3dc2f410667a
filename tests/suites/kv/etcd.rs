//! A real etcd: one for all cases that can share it, one of its own for each that cannot.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use async_trait::async_trait;
use kubestore_conformance::{Harness, Instance, Isolation, Unsupported};
use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::Kv;
use tokio::sync::Mutex;

/// Starts etcd as needed.
#[derive(Debug)]
pub struct Etcd;

/// The shared one lives as long as a case uses it, so that none is left behind when the tests end.
static SHARED: Mutex<Weak<EtcdProcess>> = Mutex::const_new(Weak::new());

#[async_trait]
impl Harness for Etcd {
    fn name(&self) -> &str {
        "etcd"
    }

    async fn start(&self, isolation: Isolation) -> Result<Box<dyn Instance>, Unsupported> {
        let process = if isolation == Isolation::Shared {
            Process::Shared(shared().await)
        } else {
            Process::Own(start().await)
        };
        let kv = connect(&process).await;
        Ok(Box::new(Running { kv: Some(kv), process }))
    }
}

async fn shared() -> Arc<EtcdProcess> {
    let mut shared = SHARED.lock().await;
    if let Some(process) = shared.upgrade() {
        return process;
    }
    let process = Arc::new(start().await);
    *shared = Arc::downgrade(&process);
    process
}

async fn start() -> EtcdProcess {
    match EtcdProcess::start().await {
        Ok(process) => process,
        Err(error) => panic!("no etcd to test with: {error}"),
    }
}

async fn connect(process: &Process) -> Arc<dyn Kv> {
    match EtcdKv::connect([process.endpoint()]).await {
        Ok(kv) => Arc::new(kv),
        Err(error) => panic!("no connection to {}: {error:?}", process.endpoint()),
    }
}

#[derive(Debug)]
enum Process {
    Shared(Arc<EtcdProcess>),
    Own(EtcdProcess),
}

impl Process {
    fn endpoint(&self) -> String {
        match self {
            Self::Shared(process) => process.endpoint(),
            Self::Own(process) => process.endpoint(),
        }
    }
}

#[derive(Debug)]
struct Running {
    kv: Option<Arc<dyn Kv>>,
    process: Process,
}

#[async_trait]
impl Instance for Running {
    fn kv(&self) -> Arc<dyn Kv> {
        match &self.kv {
            Some(kv) => Arc::clone(kv),
            None => panic!("etcd did not come back from its restart"),
        }
    }

    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported> {
        tokio::time::sleep(by).await;
        Ok(())
    }

    async fn restart(&mut self) -> Result<(), Unsupported> {
        let Process::Own(process) = &mut self.process else {
            return Err(Unsupported::new("other cases use this etcd"));
        };
        self.kv = None;
        if let Err(error) = process.restart().await {
            panic!("no restart: {error}");
        }
        self.kv = Some(connect(&self.process).await);
        Ok(())
    }
}
