//! `kubestore-embedded` alone: the past stays readable until it is compacted.

use kubestore_embedded::Embedded;
use kubestore_kv::{GetRequest, Kv, KvError, KvErrorKind, PutRequest, Revision, WriteOutcome};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), KvError> {
    let kv = Embedded::in_memory();
    kv.optimistic_put(PutRequest::create("/pods/a", "one")).await?;
    let again = kv.optimistic_put(PutRequest::create("/pods/a", "two")).await?;
    assert!(matches!(again, WriteOutcome::Conflict { .. }), "{again:?}");
    kv.optimistic_put(PutRequest::update("/pods/a", "two", Revision(2))).await?;

    let past = kv.get(GetRequest::new("/pods/a").at(Revision(2))).await?;
    assert_eq!(past.kv.map(|kv| kv.value).as_deref(), Some(&b"one"[..]));
    assert_eq!(past.head, Revision(3));

    kv.compact(Revision(3)).await?;
    let error = kv.get(GetRequest::new("/pods/a").at(Revision(2))).await.expect_err("the past is gone");
    assert_eq!((error.kind(), error.revision()), (KvErrorKind::Compacted, Some(Revision(3))));
    kv.close().await;
    Ok(())
}
