//! `kubestore-etcd` alone, on the etcd that the variable `KUBESTORE_ENDPOINT` names.

use std::error::Error;

use kubestore_etcd::EtcdKv;
use kubestore_kv::{DeleteRequest, Kv, ListRequest, PutRequest, WriteOutcome};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let endpoint =
        std::env::var("KUBESTORE_ENDPOINT").map_err(|_| "set KUBESTORE_ENDPOINT to the URL of an etcd")?;
    let kv = EtcdKv::connect([endpoint]).await?;
    let WriteOutcome::Done { revision } = kv.optimistic_put(PutRequest::create("/layer/a", "one")).await?
    else {
        return Err("/layer/a is there already".into());
    };
    let listed = kv.list(ListRequest::new("/layer/")).await?;
    assert_eq!(listed.kvs.iter().map(|kv| kv.mod_revision).collect::<Vec<_>>(), [revision]);
    let deleted = kv.optimistic_delete(DeleteRequest::new("/layer/a", revision)).await?;
    assert!(matches!(deleted, WriteOutcome::Done { revision: at } if at == revision.next()), "{deleted:?}");
    Ok(())
}
