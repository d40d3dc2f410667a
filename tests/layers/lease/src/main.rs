//! `kubestore-lease` alone: writes of nearly the same TTL share a lease, until it has been handed out often enough.

use std::sync::Arc;

use kubestore_embedded::Embedded;
use kubestore_kv::{Kv, KvError, SystemClock};
use kubestore_lease::{LeaseManager, LeaseManagerConfig};
use kubestore_metrics::NoRecorder;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), KvError> {
    let kv: Arc<dyn Kv> = Arc::new(Embedded::in_memory());
    let config = LeaseManagerConfig::default().with_max_object_count(2);
    let leases = LeaseManager::new(Arc::clone(&kv), Arc::new(SystemClock), config, Arc::new(NoRecorder));

    let first = leases.get_lease(3600).await?;
    let second = leases.get_lease(3600).await?;
    let third = leases.get_lease(3600).await?;
    assert_eq!(first, second);
    assert_ne!(second, third);
    // An hour and the slack, which is at most a minute.
    let granted = kv.lease_info(first).await?.granted;
    assert!((3600..=3660).contains(&granted.as_secs()), "{granted:?}");
    Ok(())
}
