//! `kubestore-conformance` as the author of a backend uses it: a harness, a clock moved by hand, and cases run one at a time.
//! `kv_suite!` makes tests of all of them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kubestore_conformance::{Harness, Instance, Isolation, ManualClock, Unsupported, kv, run};
use kubestore_embedded::Embedded;
use kubestore_kv::Kv;

#[derive(Debug)]
struct Backend;

#[derive(Debug)]
struct Running {
    kv: Embedded,
    clock: Arc<ManualClock>,
}

#[async_trait]
impl Harness for Backend {
    fn name(&self) -> &str {
        "embedded"
    }

    async fn start(&self, _: Isolation) -> Result<Box<dyn Instance>, Unsupported> {
        let clock = Arc::new(ManualClock::new());
        let kv = Embedded::builder().clock(Arc::<ManualClock>::clone(&clock)).in_memory();
        Ok(Box::new(Running { kv, clock }))
    }
}

#[async_trait]
impl Instance for Running {
    fn kv(&self) -> Arc<dyn Kv> {
        Arc::new(self.kv.clone())
    }

    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported> {
        self.clock.advance(by);
        Ok(())
    }

    async fn restart(&mut self) -> Result<(), Unsupported> {
        Err(Unsupported::new("nothing is kept on disk"))
    }
}

fn main() {
    run("create_is_conditional", Backend, |harness| Box::pin(kv::put::create_is_conditional(harness)));
    run("lease_expires_by_itself", Backend, |harness| Box::pin(kv::lease::lease_expires_by_itself(harness)));
}
