//! Deletion of what cannot be read.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use common::{builder, encrypted, memory, pod};
use kubestore_conformance::{Call, Fault, FaultyKv, Operation};
use kubestore_core::{CreateOptions, ErrorKind, Storage, StorageExt};
use kubestore_kv::{GetRequest, Kv, PutRequest, WriteOutcome};

const KEY: &str = "/registry/pods/ns1/a";

/// Replaces what is at `KEY`.
async fn overwrite(kv: &dyn Kv, value: &[u8]) {
    let current = kv.get(GetRequest::new(KEY)).await.unwrap().kv.unwrap();
    let put = PutRequest::update(KEY, value.to_vec(), current.mod_revision);
    let written = kv.optimistic_put(put).await.unwrap();
    assert!(matches!(written, WriteOutcome::Done { .. }));
}

#[tokio::test]
async fn a_value_that_cannot_be_decoded_is_deleted() {
    let kv = memory();
    let store = builder(Arc::clone(&kv)).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    overwrite(&*kv, b"\xff\xfenothing").await;
    let error = store.read("/pods/ns1/a").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(store.delete_if_corrupt("/pods/ns1/a").await.unwrap(), 4);
    assert!(kv.get(GetRequest::new(KEY)).await.unwrap().kv.is_none());
    let error = store.delete_if_corrupt("/pods/ns1/a").await.unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::KeyNotFound, Some(KEY)));
}

#[tokio::test]
async fn a_value_that_cannot_be_decrypted_is_deleted() {
    let kv = memory();
    let store = builder(Arc::clone(&kv)).transformer(encrypted()).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    let mut sealed = kv.get(GetRequest::new(KEY)).await.unwrap().kv.unwrap().value.to_vec();
    *sealed.last_mut().unwrap() ^= 1;
    overwrite(&*kv, &sealed).await;
    store.delete_if_corrupt("/pods/ns1/a").await.unwrap();
    assert!(kv.get(GetRequest::new(KEY)).await.unwrap().kv.is_none());
}

#[tokio::test]
async fn an_object_in_order_is_not_deleted() {
    let kv = memory();
    let store = builder(Arc::clone(&kv)).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    let error = store.delete_if_corrupt("/pods/ns1/a").await.unwrap_err();
    assert_eq!((error.kind(), error.status().code), (ErrorKind::InvalidObject, 409));
    assert_eq!(
        error.to_string(),
        "delete of a corrupt object of /registry/pods/ns1/a: the object is not corrupt; delete it as any other"
    );
    store.read("/pods/ns1/a").await.unwrap();
}

#[tokio::test]
async fn an_object_that_is_repaired_meanwhile_is_not_deleted() {
    let kv = memory();
    let sound = builder(Arc::clone(&kv)).build();
    sound.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    let good = kv.get(GetRequest::new(KEY)).await.unwrap().kv.unwrap().value;
    overwrite(&*kv, b"damaged").await;
    let (engine, armed) = (Arc::clone(&kv), Arc::new(AtomicBool::new(true)));
    let script = move |call: &Call| {
        if call.operation != Operation::OptimisticDelete || !armed.swap(false, Ordering::SeqCst) {
            return Fault::none();
        }
        let (engine, good) = (Arc::clone(&engine), good.clone());
        Fault::none().before(async move { overwrite(&*engine, &good).await })
    };
    let store = builder(Arc::new(FaultyKv::new(Arc::clone(&kv), script))).build();
    let error = store.delete_if_corrupt("/pods/ns1/a").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidObject);
    assert_eq!(sound.read("/pods/ns1/a").await.unwrap().name(), "a");
}

#[tokio::test]
async fn an_object_that_is_damaged_again_meanwhile_is_deleted_at_its_newest_state() {
    let kv = memory();
    let store = builder(Arc::clone(&kv)).build();
    store.create("/pods/ns1/a", pod("a"), CreateOptions::default()).await.unwrap();
    overwrite(&*kv, b"damaged").await;
    let (engine, armed) = (Arc::clone(&kv), Arc::new(AtomicBool::new(true)));
    let script = move |call: &Call| {
        if call.operation != Operation::OptimisticDelete || !armed.swap(false, Ordering::SeqCst) {
            return Fault::none();
        }
        let engine = Arc::clone(&engine);
        Fault::none().before(async move { overwrite(&*engine, b"damaged otherwise").await })
    };
    let faulty = builder(Arc::new(FaultyKv::new(Arc::clone(&kv), script))).build();
    faulty.delete_if_corrupt("/pods/ns1/a").await.unwrap();
    assert!(kv.get(GetRequest::new(KEY)).await.unwrap().kv.is_none());
}
