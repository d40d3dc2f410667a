//! The embedded engine in memory, on a clock that the suite moves.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use kubestore_conformance::{Harness, Instance, Isolation, ManualClock, Unsupported};
use kubestore_embedded::Embedded;
use kubestore_kv::Kv;

/// Starts a new engine for every case, which is thereby alone on it.
#[derive(Debug)]
pub(crate) struct Memory;

#[async_trait]
impl Harness for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    async fn start(&self, _: Isolation) -> Result<Box<dyn Instance>, Unsupported> {
        let clock = ManualClock::new();
        let kv = Embedded::builder().clock(Arc::new(clock.clone())).in_memory();
        Ok(Box::new(Running { kv: Arc::new(kv), clock }))
    }
}

#[derive(Debug)]
struct Running {
    kv: Arc<Embedded>,
    clock: ManualClock,
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
        Err(Unsupported::new("memory ends with its process"))
    }
}
