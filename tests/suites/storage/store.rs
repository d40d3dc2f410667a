//! The store of this project under test.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use kubestore_conformance::{
    Call, Fault, FaultyKv, Operation, RecordingKv, Unsupported,
    storage::{
        Action, Pod, PodCodec, PodVersioner, Reads, StorageHarness, StoreInstance, StoreOptions, Tampering,
    },
};
use kubestore_core::{GroupResource, PathPrefix, Storage};
use kubestore_kv::{GetRequest, Kv as _, PutRequest, Revision, WriteOutcome};
use kubestore_store::Store;

use super::{
    backend::{Backend, Started},
    tamper::Tamper,
};

/// Stores on one kind of backend.
#[derive(Debug)]
pub(crate) struct StoreOn(pub(crate) Backend);

#[async_trait]
impl StorageHarness for StoreOn {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn start(&self, options: StoreOptions) -> Result<Box<dyn StoreInstance>, Unsupported> {
        let backend = self.0.start(&options).await;
        let reads = RecordingKv::new(Arc::clone(&backend.kv));
        let interruption = Arc::new(Interruption::default());
        let script = Arc::clone(&interruption);
        let kv = FaultyKv::new(Arc::new(reads.clone()), move |call: &Call| script.of(call));
        let tamper = Arc::new(Tamper::default());
        let mut builder = Store::builder(Arc::new(kv), Arc::new(PodCodec), Arc::new(PodVersioner))
            .prefix(&options.prefix)
            .group_resource(GroupResource::from("pods"))
            .transformer(Arc::<Tamper>::clone(&tamper))
            .watch_list(options.watch_list);
        if let Some(clock) = &backend.clock {
            builder = builder.clock(Arc::new(clock.clone()));
        }
        let prefix = PathPrefix::new(&options.prefix);
        let store = Arc::new(builder.build());
        Ok(Box::new(Running { store, backend, reads, interruption, tamper, prefix }))
    }
}

/// What happens before each read of a range.
#[derive(Default)]
struct Interruption {
    action: Mutex<Option<Action>>,
    /// Whether it happens right now.
    under_way: Arc<AtomicBool>,
}

impl Interruption {
    fn of(&self, call: &Call) -> Fault {
        let action = self.action.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (Operation::List | Operation::ListChunks, Some(action)) = (call.operation, action) else {
            return Fault::none();
        };
        if self.under_way.swap(true, Ordering::AcqRel) {
            return Fault::none();
        }
        let under_way = Arc::clone(&self.under_way);
        Fault::none().before(async move {
            action().await;
            under_way.store(false, Ordering::Release);
        })
    }
}

impl fmt::Debug for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interruption").field("under_way", &self.under_way).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Running {
    store: Arc<Store<Pod>>,
    backend: Started,
    reads: RecordingKv,
    interruption: Arc<Interruption>,
    tamper: Arc<Tamper>,
    prefix: PathPrefix,
}

#[async_trait]
impl StoreInstance for Running {
    fn store(&self) -> Arc<dyn Storage<Pod>> {
        Arc::<Store<Pod>>::clone(&self.store)
    }

    async fn advance_time(&self, by: Duration) -> Result<(), Unsupported> {
        match &self.backend.clock {
            Some(clock) => clock.advance(by),
            None => tokio::time::sleep(by).await,
        }
        Ok(())
    }

    async fn compact(&self, revision: u64) -> Result<(), Unsupported> {
        let compacted = self.backend.kv.compact(Revision(revision.cast_signed())).await;
        compacted.unwrap_or_else(|error| panic!("compact at {revision}: {error:?}"));
        Ok(())
    }

    async fn bump_revision(&self) -> Result<u64, Unsupported> {
        let key = format!("{}-beside", self.prefix.as_str().trim_end_matches('/'));
        let kv = &self.backend.kv;
        let current = kv.get(GetRequest::new(key.clone())).await.ok().and_then(|answer| answer.kv);
        let last = current.map_or(Revision(0), |kv| kv.mod_revision);
        match kv.optimistic_put(PutRequest::update(key, "x", last)).await {
            Ok(WriteOutcome::Done { revision }) => Ok(revision.0.unsigned_abs()),
            other => panic!("a write beside the store: {other:?}"),
        }
    }

    async fn stored(&self, key: &str) -> Result<Option<Bytes>, Unsupported> {
        let key = self.prefix.prepare(key).unwrap_or_else(|error| panic!("{error}"));
        let answer = self.backend.kv.get(GetRequest::new(key)).await;
        let answer = answer.unwrap_or_else(|error| panic!("read beside the store: {error:?}"));
        Ok(answer.kv.map(|kv| Tamper::reveal(&kv.value)))
    }

    fn tamper(&self, how: Tampering) -> Result<(), Unsupported> {
        self.tamper.set(how);
        Ok(())
    }

    fn take_reads(&self) -> Result<Reads, Unsupported> {
        let calls = self.reads.take();
        let lists = calls
            .iter()
            .filter(|recorded| matches!(recorded.call.operation, Operation::List | Operation::ListChunks));
        Ok(Reads::new(lists.count(), self.tamper.take_opened()))
    }

    fn before_each_list(&self, action: Action) -> Result<(), Unsupported> {
        *self.interruption.action.lock().unwrap_or_else(PoisonError::into_inner) = Some(action);
        Ok(())
    }
}
