//! Cases: conditional puts.

use bytes::Bytes;
use kubestore_kv::{Expect, OnFailure, PutRequest, Revision, WriteOutcome};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// A create happens when the key is absent, and only then.
pub async fn create_is_conditional(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "one").await;
    let second = fx.put(PutRequest::create(fx.key("a"), "two")).await;
    match second {
        WriteOutcome::Conflict { current, head } => {
            same!(fx, current, None, "a create asks for nothing else; a at {created}");
            holds!(fx, head >= created, "head {head} of the conflict is below the create at {created}");
        }
        other => panic!("[{}] second create of a: got {other:?}, want a conflict", fx.backend()),
    }
    let kv = fx.get_some("a").await;
    same!(fx, kv.value, Bytes::from("one"), "value of a after a refused create");
    same!(
        fx,
        (kv.create_revision, kv.mod_revision, kv.version),
        (created, created, 1),
        "a after a refused create"
    );
}

/// An update keeps the creation, counts the version up, and takes the write's revision.
pub async fn update_moves_revision_and_version(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "0").await;
    let mut last = created;
    for version in 2..=5 {
        let revision = fx.update("a", version.to_string(), last).await;
        holds!(fx, revision > last, "update of a at {revision} is not after {last}");
        let kv = fx.get_some("a").await;
        same!(
            fx,
            (kv.create_revision, kv.mod_revision),
            (created, revision),
            "revisions of a, version {version}"
        );
        same!(fx, (kv.version, &*kv.value), (version, version.to_string().as_bytes()), "a at {revision}");
        last = revision;
    }
}

/// A put of the same bytes is a write like any other.
pub async fn update_with_the_same_bytes_is_a_write(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "same").await;
    let updated = fx.update("a", "same", created).await;
    holds!(fx, updated > created, "the update got revision {updated}, the create {created}");
    same!(fx, fx.get_some("a").await.mod_revision, updated, "revision of a");
}

/// Each expectation that does not hold is a conflict; what is answered depends on what was asked for, and nothing is
/// written.
pub async fn put_conflicts(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("there", "one").await;
    let updated = fx.update("there", "two", created).await;
    let cases = [
        ("there", Expect::ModRevision(created)),
        ("there", Expect::ModRevision(updated.next())),
        ("there", Expect::ModRevision(Revision(-1))),
        ("there", Expect::ABSENT),
        ("there", Expect::Version(0)),
        ("there", Expect::Version(1)),
        ("there", Expect::Version(3)),
        ("missing", Expect::ModRevision(created)),
        ("missing", Expect::Version(1)),
    ];
    for (name, expect) in cases {
        for on_failure in [OnFailure::Nothing, OnFailure::Get] {
            let mut request = PutRequest::create(fx.key(name), "three").with_expect(expect);
            request.on_failure = on_failure;
            let what = format!("put of {name} with {expect:?}, {on_failure:?}");
            let WriteOutcome::Conflict { current, head } = fx.put(request).await else {
                panic!("[{}] {what}: was written", fx.backend());
            };
            holds!(fx, head >= updated, "{what}: head {head} is below the last write {updated}");
            let shown = name == "there" && on_failure == OnFailure::Get;
            let got = current.map(|kv| (kv.value, kv.create_revision, kv.mod_revision, kv.version));
            let want = shown.then(|| (Bytes::from("two"), created, updated, 2));
            same!(fx, got, want, "{what}: current state");
        }
    }
    same!(fx, fx.get_some("there").await.mod_revision, updated, "revision of there after refused puts");
    same!(fx, fx.get("missing").await, None, "missing after refused puts");
}

/// The version is a condition of its own, which the compactor's key uses.
pub async fn put_on_a_version(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    for version in 0..3 {
        let request = PutRequest::create(fx.key("a"), "x").with_expect(Expect::Version(version));
        let revision = fx.put_done(request).await;
        let kv = fx.get_some("a").await;
        same!(
            fx,
            (kv.version, kv.mod_revision),
            (version + 1, revision),
            "a after a put on version {version}"
        );
    }
}

/// A deleted key starts anew: version 1, a new creation, and old revisions no longer match.
pub async fn put_after_delete_starts_anew(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "one").await;
    let updated = fx.update("a", "two", created).await;
    let deleted = fx.delete("a", updated).await;
    for stale in [created, updated, deleted] {
        let outcome = fx.put(PutRequest::update(fx.key("a"), "three", stale)).await;
        let refused = matches!(outcome, WriteOutcome::Conflict { current: None, .. });
        holds!(
            fx,
            refused,
            "update of the deleted a at {stale}: got {outcome:?}, want a conflict with nothing"
        );
    }
    let again = fx.create("a", "four").await;
    holds!(fx, again > deleted, "the new create at {again} is not after the delete at {deleted}");
    let kv = fx.get_some("a").await;
    same!(fx, (kv.create_revision, kv.mod_revision, kv.version), (again, again, 1), "a, created again");
}

/// Every write takes exactly the next revision; a refused one takes none.
pub async fn each_write_takes_one_revision(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    let start = fx.head().await;
    let created = fx.create("a", "one").await;
    same!(fx, created, start.next(), "revision of the create after head {start}");
    let _refused = fx.put(PutRequest::create(fx.key("a"), "two")).await;
    let _refused = fx.put(PutRequest::update(fx.key("b"), "two", created)).await;
    same!(fx, fx.head().await, created, "head after refused writes");
    let updated = fx.update("a", "two", created).await;
    same!(fx, updated, created.next(), "revision of the update");
    let deleted = fx.delete("a", updated).await;
    same!(fx, deleted, updated.next(), "revision of the delete");
    same!(fx, fx.head().await, deleted, "head after the last write");
}
