//! Writes whose answer never came, and leases that are gone.

mod common;

use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use common::{builder, encrypted, faulty, memory, pod, with_number};
use kubestore_conformance::{Call, Fault, Operation, RecordingKv};
use kubestore_core::{CreateOptions, ErrorKind, Storage, StorageExt, Updated};
use kubestore_kv::{GetRequest, KvError};

/// Loses the answer to the first call of `operation` after `armed` was set.
fn lose_once(
    operation: Operation,
    armed: &Arc<AtomicBool>,
) -> impl Fn(&Call) -> Fault + Send + Sync + 'static {
    let armed = Arc::clone(armed);
    move |call| {
        if call.operation == operation && armed.swap(false, Ordering::SeqCst) {
            Fault::lose_answer()
        } else {
            Fault::none()
        }
    }
}

#[tokio::test]
async fn a_lost_answer_to_an_encrypted_write_is_found_by_reading_back() {
    let armed = Arc::new(AtomicBool::new(true));
    let store = faulty(lose_once(Operation::OptimisticPut, &armed)).transformer(encrypted()).build();
    let created = store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    assert_eq!(created.resource_version(), "2");
    armed.store(true, Ordering::SeqCst);
    let update = |current: Option<kubestore_codec::Unstructured>, _| async move {
        Ok(Updated::new(with_number(current.unwrap(), 1)))
    };
    let updated = store.update_with("/pods/ns1/a", update).await.unwrap();
    assert_eq!(updated.resource_version(), "3");
    assert!(!armed.load(Ordering::SeqCst), "an answer was lost");
}

#[tokio::test]
async fn a_lost_answer_to_a_plain_write_is_unknown_though_the_bytes_are_there() {
    let armed = Arc::new(AtomicBool::new(true));
    let store = faulty(lose_once(Operation::OptimisticPut, &armed)).build();
    let error = store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap_err();
    assert!(error.kind() == ErrorKind::OutcomeUnknown && !error.is_retryable(), "{error}");
    assert_eq!(error.key(), Some("/registry/pods/ns1/a"));
    assert!(error.source().unwrap().downcast_ref::<KvError>().is_some(), "the cause is kept");
    store.read("/pods/ns1/a").await.expect("it was written");
}

#[tokio::test]
async fn a_lost_answer_to_a_deletion_is_unknown_even_when_encrypted() {
    let armed = Arc::new(AtomicBool::new(false));
    let store = faulty(lose_once(Operation::OptimisticDelete, &armed)).transformer(encrypted()).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    armed.store(true, Ordering::SeqCst);
    let error = store.remove("/pods/ns1/a").await.unwrap_err();
    assert!(error.is_outcome_unknown(), "{error}");
    assert!(store.find("/pods/ns1/a").await.unwrap().is_none());
}

#[tokio::test]
async fn a_shared_lease_that_is_gone_is_granted_anew_once() {
    let kv = Arc::new(RecordingKv::new(memory()));
    let store = builder(Arc::clone(&kv) as Arc<_>).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default().with_ttl(1000)).await.unwrap();
    let kept = store.kv().get(GetRequest::new("/registry/pods/ns1/a")).await.unwrap().kv.unwrap();
    let first = kept.lease.unwrap();
    store.kv().revoke_lease(first).await.unwrap();
    drop(kv.take());
    store.create("/pods/ns1/b", pod("b"), CreateOptions::default().with_ttl(1000)).await.unwrap();
    let kept = store.kv().get(GetRequest::new("/registry/pods/ns1/b")).await.unwrap().kv.unwrap();
    assert!(kept.lease.is_some_and(|lease| lease != first), "{:?}", kept.lease);
    assert_eq!(kv.count_of(Operation::OptimisticPut), 2);
    assert_eq!(kv.count_of(Operation::GrantLease), 1);
}

#[tokio::test]
async fn an_impossible_ttl_is_refused_before_anything_is_asked() {
    let kv = Arc::new(RecordingKv::new(memory()));
    let store = builder(Arc::clone(&kv) as Arc<_>).build();
    for ttl in [9_000_000_001, i64::MAX.unsigned_abs(), u64::MAX] {
        let error =
            store.create("/pods/ns1/a", pod("a"), CreateOptions::default().with_ttl(ttl)).await.unwrap_err();
        let cause = error.source().expect("a cause").to_string();
        assert!(cause.contains(&ttl.to_string()), "{cause}");
    }
    assert_eq!(kv.take().len(), 0);
}
