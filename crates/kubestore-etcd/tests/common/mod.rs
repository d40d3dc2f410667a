//! What the integration tests share.
#![allow(dead_code, reason = "not every test uses all of it")]

use std::time::Duration;

use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::{Kv, PutRequest, Revision, WriteOutcome};

/// An etcd of its own, and a client of it.
pub(crate) async fn etcd() -> (EtcdProcess, EtcdKv) {
    let etcd = EtcdProcess::start().await.unwrap();
    let kv = EtcdKv::connect([etcd.endpoint()]).await.unwrap();
    (etcd, kv)
}

/// A client that does not wait long for a server that is away.
pub(crate) async fn impatient(etcd: &EtcdProcess) -> EtcdKv {
    EtcdKv::builder().endpoints([etcd.endpoint()]).retry_for(Duration::ZERO).connect().await.unwrap()
}

/// The revision of a write that happened.
pub(crate) fn done(outcome: WriteOutcome) -> Revision {
    match outcome {
        WriteOutcome::Done { revision } => revision,
        other => panic!("the write did not happen: {other:?}"),
    }
}

/// Creates a key.
pub(crate) async fn create(kv: &EtcdKv, key: &str, value: impl Into<Vec<u8>>) -> Revision {
    done(kv.optimistic_put(PutRequest::create(key.to_owned(), value.into())).await.unwrap())
}
