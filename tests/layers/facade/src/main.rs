//! `kubestore` with the engine in this process and encryption, and without etcd: one dependency brings all that is needed.

use std::error::Error;
use std::sync::Arc;

use kubestore::kv::GetRequest;
use kubestore::prelude::*;
use kubestore::transform::{Key, Provider, ProviderChain};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let transformer = ProviderChain::new([Provider::aes_gcm([Key::new("key1", [7; 32])?])?])?;
    let stores = Stores::builder(Embedded::in_memory()).transformer(Arc::new(transformer)).build();
    let pods = stores.unstructured("pods");

    let pod = Unstructured::new("v1", "Pod", "default", "a");
    let created = pods.create("/pods/default/a", pod, CreateOptions::default()).await?;
    assert_eq!(created.resource_version(), "2");

    let stored =
        stores.kv().get(GetRequest::new("/registry/pods/default/a")).await?.kv.ok_or("it was written")?;
    assert!(stored.value.starts_with(b"k8s:enc:aesgcm:v1:key1:"));
    assert_eq!(pods.read("/pods/default/a").await?.name(), "a");

    let stale = DeleteOptions::default().with_preconditions(Preconditions::resource_version("1"));
    let error = pods
        .delete("/pods/default/a", stale, &mut kubestore::core::AllowDeletion, None)
        .await
        .expect_err("stale");
    assert!(error.is_invalid_object(), "{error}");
    Ok(())
}
