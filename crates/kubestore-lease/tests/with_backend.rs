//! Leases of a real backend.

use std::{sync::Arc, time::Duration};

use kubestore_conformance::ManualClock;
use kubestore_embedded::Embedded;
use kubestore_kv::{GetRequest, Kv, KvErrorKind, LeaseId, PutRequest, WriteOutcome};
use kubestore_lease::{LeaseManager, LeaseManagerConfig};
use kubestore_metrics::NoRecorder;

async fn put(kv: &dyn Kv, key: &'static str, lease: LeaseId) -> Result<WriteOutcome, kubestore_kv::KvError> {
    kv.optimistic_put(PutRequest::create(key, "value").with_lease(Some(lease))).await
}

#[tokio::test]
async fn lease_that_the_backend_lost_is_forgotten_and_granted_anew() {
    let clock = ManualClock::new();
    let kv: Arc<dyn Kv> = Arc::new(Embedded::builder().clock(Arc::new(clock.clone())).in_memory());
    let config = LeaseManagerConfig::default();
    let leases = LeaseManager::new(Arc::clone(&kv), Arc::new(clock), config, Arc::new(NoRecorder));

    let first = leases.get_lease(1000).await.unwrap();
    assert!(matches!(put(&*kv, "/a", first).await, Ok(WriteOutcome::Done { .. })));
    assert_eq!(kv.lease_info(first).await.unwrap().granted, Duration::from_secs(1050));
    let stored = kv.get(GetRequest::new("/a")).await.unwrap().kv.unwrap();
    assert_eq!(stored.lease, Some(first));

    kv.revoke_lease(first).await.unwrap();
    assert_eq!(leases.get_lease(1000).await.unwrap(), first);
    assert_eq!(put(&*kv, "/b", first).await.unwrap_err().kind(), KvErrorKind::LeaseNotFound);

    leases.forget(first);
    let second = leases.get_lease(1000).await.unwrap();
    assert_ne!(second, first);
    assert!(matches!(put(&*kv, "/b", second).await, Ok(WriteOutcome::Done { .. })));
}
