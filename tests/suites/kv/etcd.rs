//! A real etcd: one for all cases that can share it, one of its own for each that cannot.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kubestore_conformance::{Harness, Instance, Isolation, Unsupported};
use kubestore_etcd::testing::EtcdProcess;
use kubestore_kv::Kv;

use crate::support::etcd::{connect, shared, start};

/// Starts etcd as needed.
#[derive(Debug)]
pub(crate) struct Etcd;

#[async_trait]
impl Harness for Etcd {
    fn name(&self) -> &str {
        "etcd"
    }

    async fn start(&self, isolation: Isolation) -> Result<Box<dyn Instance>, Unsupported> {
        let process = if isolation == Isolation::Shared {
            Process::Shared(shared().await)
        } else {
            Process::Own(Box::new(start().await))
        };
        let kv = connect(process.endpoint()).await;
        Ok(Box::new(Running { kv: Some(kv), process }))
    }
}

#[derive(Debug)]
enum Process {
    Shared(Arc<EtcdProcess>),
    Own(Box<EtcdProcess>),
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
        self.kv = Some(connect(self.process.endpoint()).await);
        Ok(())
    }
}
