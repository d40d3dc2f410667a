//! Lists that go on past objects that cannot be read.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::{error::Error as _, sync::Arc};

use common::{builder, encrypted, fill, memory};
use futures_util::StreamExt as _;
use kubestore_conformance::{Call, Fault, FaultyKv, Operation};
use kubestore_core::{ErrorKind, ListOptions, ListPart, Storage};
use kubestore_kv::{GetRequest, Kv, KvErrorKind, PutRequest};

/// Damages the first `count` of the pods that [`fill`] made.
async fn damage(kv: &dyn Kv, count: usize) {
    for number in 0..count {
        let key = format!("/registry/pods/ns1/p{number:02}");
        let current = kv.get(GetRequest::new(key.clone())).await.unwrap().kv.unwrap();
        kv.optimistic_put(PutRequest::update(key, b"damaged".to_vec(), current.mod_revision)).await.unwrap();
    }
}

fn all() -> ListOptions {
    ListOptions::recursive().past_corrupt_objects()
}

#[tokio::test]
async fn every_corrupt_object_is_reported() {
    for (corrupt, reported, text) in [
        (1, 1, "list of /registry/pods/: 1 object could not be read"),
        (3, 3, "list of /registry/pods/: 3 objects could not be read"),
        (100, 100, "list of /registry/pods/: 100 objects could not be read"),
        (150, 100, "list of /registry/pods/: more than 100 objects could not be read"),
    ] {
        let kv = memory();
        let store = builder(Arc::clone(&kv)).build();
        fill(&store, 200).await;
        damage(&*kv, corrupt).await;
        let first = store.get_list("/pods", ListOptions::recursive()).await.unwrap_err();
        assert_eq!((first.kind(), first.corrupt_objects().is_none()), (ErrorKind::Corrupt, true));
        assert_eq!(first.key(), Some("/registry/pods/ns1/p00"));

        let error = store.get_list("/pods", all()).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Corrupt, text));
        let objects = error.corrupt_objects().unwrap();
        assert_eq!((objects.errors().len(), objects.is_truncated()), (reported, corrupt > 100));
        assert!(objects.ended_by().is_none());
        let mut names: Vec<_> =
            (0..corrupt).map(|number| format!("/registry/pods/ns1/p{number:02}")).collect();
        names.sort();
        let found: Vec<_> = objects.errors().iter().map(|error| error.key().unwrap()).collect();
        assert_eq!(found, names[..reported]);
        let status = error.status();
        assert_eq!((status.code, status.reason.as_str()), (500, "StorageReadError"));
        assert_eq!(status.message, "failed to read one or more pods from the storage");
        assert_eq!(status.causes.len(), reported + usize::from(corrupt > 100));
    }
}

#[tokio::test]
async fn without_corrupt_objects_the_list_is_as_any_other() {
    let store = builder(memory()).build();
    fill(&store, 70).await;
    let list = store.get_list("/pods", all().with_limit(50)).await.unwrap();
    assert_eq!((list.items.len(), list.remaining_item_count), (50, Some(20)));
    let rest = all().with_limit(50).with_continue_token(list.continue_token.unwrap());
    assert_eq!(store.get_list("/pods", rest).await.unwrap().items.len(), 20);
}

#[tokio::test]
async fn a_list_in_parts_gives_what_it_can_read_first() {
    let kv = memory();
    let store = builder(Arc::clone(&kv)).transformer(encrypted()).build();
    fill(&store, 99).await;
    damage(&*kv, 3).await;
    let mut parts = store.list_stream("/pods", all());
    let mut read = 0;
    let error = loop {
        match parts.next().await.expect("it ends with an error") {
            Ok(ListPart::Items(items)) => read += items.len(),
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert_eq!((read, error.corrupt_objects().unwrap().errors().len()), (96, 3));
    let cause = error.source().unwrap().to_string();
    assert!(cause.starts_with("/registry/pods/ns1/p00: "), "{cause}");
    assert!(parts.next().await.is_none());
}

#[tokio::test]
async fn what_ends_the_list_later_is_not_lost() {
    let kv = memory();
    fill(&builder(Arc::clone(&kv)).build(), 40).await;
    damage(&*kv, 2).await;
    // The first page is given, the second is not.
    let script = |call: &Call| match (call.operation, call.number) {
        (Operation::List, number) if number > 0 => Fault::fail(KvErrorKind::Unavailable),
        _ => Fault::none(),
    };
    let store = builder(Arc::new(FaultyKv::new(kv, script))).build();
    let options = all().with_limit(30).with_predicate(kubestore_core::Predicate::new(
        "app=web".parse().unwrap(),
        "metadata.name!=p05".parse().unwrap(),
    ));
    let error = store.get_list("/pods", options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let objects = error.corrupt_objects().unwrap();
    assert_eq!(objects.errors().len(), 2);
    assert_eq!(objects.ended_by().unwrap().kind(), ErrorKind::Unreachable);
    assert_eq!(error.status().causes.len(), 3);
}
