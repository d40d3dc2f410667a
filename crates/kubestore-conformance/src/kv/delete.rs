//! Cases: conditional deletes.

use bytes::Bytes;
use kubestore_kv::{DeleteRequest, Expect, OnFailure, Revision, WriteOutcome};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// A delete takes the key away and nothing else, at a revision of its own.
pub async fn delete_removes_the_key(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let neighbour = fx.create("ab", "stays").await;
    let created = fx.create("a", "goes").await;
    let deleted = fx.delete("a", created).await;
    holds!(fx, deleted > created, "delete at {deleted} is not after the create at {created}");
    same!(fx, fx.get("a").await, None, "a after its delete at {deleted}");
    same!(fx, fx.get_at("a", deleted).await, None, "a at the delete's own revision {deleted}");
    let kept = fx.get_at("a", created).await.map(|kv| kv.value);
    same!(fx, kept, Some(Bytes::from("goes")), "a at {created}, before the delete");
    same!(fx, fx.get_some("ab").await.mod_revision, neighbour, "the neighbour ab");
}

/// Each expectation that does not hold is a conflict, with the current state only if asked for, and nothing is
/// deleted.
pub async fn delete_conflicts(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("there", "one").await;
    let updated = fx.update("there", "two", created).await;
    let cases = [
        ("there", Expect::ModRevision(created)),
        ("there", Expect::ModRevision(updated.next())),
        ("there", Expect::ABSENT),
        ("there", Expect::Version(1)),
        ("missing", Expect::ModRevision(created)),
    ];
    for (name, expect) in cases {
        for on_failure in [OnFailure::Nothing, OnFailure::Get] {
            let mut request = DeleteRequest::new(fx.key(name), Revision(0));
            request.expect = expect;
            request.on_failure = on_failure;
            let what = format!("delete of {name} with {expect:?}, {on_failure:?}");
            let outcome = fx.ok(fx.kv().optimistic_delete(request).await, &what);
            let WriteOutcome::Conflict { current, head } = outcome else {
                panic!("[{}] {what}: got {outcome:?}, want a conflict", fx.backend());
            };
            holds!(fx, head >= updated, "{what}: head {head} is below the last write {updated}");
            let shown = name == "there" && on_failure == OnFailure::Get;
            let got = current.map(|kv| (kv.value, kv.mod_revision));
            same!(fx, got, shown.then(|| (Bytes::from("two"), updated)), "{what}: current state");
        }
    }
    same!(fx, fx.get_some("there").await.mod_revision, updated, "there after refused deletes");
}

/// A delete on a version, the other kind of condition.
pub async fn delete_on_a_version(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "one").await;
    fx.update("a", "two", created).await;
    let mut request = DeleteRequest::new(fx.key("a"), Revision(0));
    request.expect = Expect::Version(2);
    let outcome = fx.ok(fx.kv().optimistic_delete(request).await, "delete of a on version 2");
    holds!(fx, matches!(outcome, WriteOutcome::Done { .. }), "delete of a on version 2: got {outcome:?}");
    same!(fx, fx.get("a").await, None, "a");
}

/// Deleting what is expected to be absent is done without writing: the revision told is the head.
pub async fn delete_of_an_absent_key_writes_nothing(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let head = fx.create("other", "x").await;
    let request = DeleteRequest::new(fx.key("missing"), Revision(0));
    match fx.ok(fx.kv().optimistic_delete(request).await, "delete of missing") {
        WriteOutcome::Done { revision } => {
            same!(fx, revision, head, "revision of a delete that wrote nothing")
        }
        other => panic!("[{}] delete of missing, expected absent: got {other:?}", fx.backend()),
    }
    same!(fx, fx.head().await, head, "head after a delete that wrote nothing");
}
