//! What the store's tests share.
#![allow(dead_code, reason = "each test file uses its part")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use kubestore_codec::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
use kubestore_conformance::{Call, Fault, FaultyKv};
use kubestore_core::{CreateOptions, GroupResource, Storage};
use kubestore_embedded::Embedded;
use kubestore_kv::Kv;
use kubestore_store::{Store, StoreBuilder};
use kubestore_transform::{Key, Provider, ProviderChain};
use serde_json::json;

pub(crate) fn pod(name: &str) -> Unstructured {
    labelled_pod(name, "web")
}

pub(crate) fn labelled_pod(name: &str, app: &str) -> Unstructured {
    let metadata = json!({"name": name, "namespace": "ns1", "labels": {"app": app}});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}).try_into().unwrap()
}

/// A store of pods on `kv`, to be completed.
pub(crate) fn builder(kv: Arc<dyn Kv>) -> StoreBuilder<Unstructured> {
    Store::builder(kv, Arc::new(UnstructuredCodec), Arc::new(UnstructuredVersioner))
        .group_resource(GroupResource::from("pods"))
}

pub(crate) fn memory() -> Arc<dyn Kv> {
    Arc::new(Embedded::in_memory())
}

/// A store on a new engine on which things go wrong as `script` says.
pub(crate) fn faulty(script: impl Fn(&Call) -> Fault + Send + Sync + 'static) -> StoreBuilder<Unstructured> {
    builder(Arc::new(FaultyKv::new(memory(), script)))
}

/// Pods `p00`, `p01`, … in `ns1`.
pub(crate) async fn fill(store: &Store<Unstructured>, count: usize) {
    for number in 0..count {
        let name = format!("p{number:02}");
        store.create(&format!("/pods/ns1/{name}"), pod(&name), CreateOptions::default()).await.unwrap();
    }
}

pub(crate) fn encrypted() -> Arc<ProviderChain> {
    let key = Key::new("key1", [7; 32]).unwrap();
    Arc::new(ProviderChain::new([Provider::aes_gcm([key]).unwrap()]).unwrap())
}

pub(crate) fn names(items: &[Unstructured]) -> Vec<&str> {
    items.iter().map(Unstructured::name).collect()
}

/// The object with `/spec/n` set.
pub(crate) fn with_number(mut object: Unstructured, number: i64) -> Unstructured {
    object.set_pointer("/spec/n", number).unwrap();
    object
}

/// `/spec/n` of the object, 0 without one.
pub(crate) fn number(object: &Unstructured) -> i64 {
    object.pointer("/spec/n").and_then(kubestore_codec::Value::as_i64).unwrap_or(0)
}
