//! The embedded engine in a directory, on a clock that the suite moves.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kubestore_conformance::{Harness, Instance, Isolation, ManualClock, Unsupported};
use kubestore_embedded::Embedded;
use kubestore_kv::Kv;
use tempfile::TempDir;

/// Opens a new directory for every case, which is thereby alone on it.
#[derive(Debug)]
pub(crate) struct Durable;

#[async_trait]
impl Harness for Durable {
    fn name(&self) -> &str {
        "durable"
    }

    async fn start(&self, _: Isolation) -> Result<Box<dyn Instance>, Unsupported> {
        let directory = match TempDir::with_prefix("kubestore-durable-") {
            Ok(directory) => directory,
            Err(error) => panic!("no directory to test in: {error}"),
        };
        let clock = ManualClock::new();
        let kv = open(&directory, &clock).await;
        Ok(Box::new(Running { kv, clock, directory }))
    }
}

async fn open(directory: &TempDir, clock: &ManualClock) -> Arc<Embedded> {
    match Embedded::builder().clock(Arc::new(clock.clone())).open(directory.path()).await {
        Ok(kv) => Arc::new(kv),
        Err(error) => panic!("{} does not open: {error:?}", directory.path().display()),
    }
}

#[derive(Debug)]
struct Running {
    kv: Arc<Embedded>,
    clock: ManualClock,
    directory: TempDir,
}

#[async_trait]
impl Instance for Running {
    fn kv(&self) -> Arc<dyn Kv> {
        Arc::<Embedded>::clone(&self.kv)
    }

    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported> {
        self.clock.advance(by);
        Ok(())
    }

    async fn restart(&mut self) -> Result<(), Unsupported> {
        // A process that is killed is the engine's own test; here it has to let go of the directory.
        self.kv.close().await;
        self.kv = open(&self.directory, &self.clock).await;
        Ok(())
    }
}
