//! Cases: reading one key.

use std::time::Duration;

use bytes::Bytes;
use kubestore_kv::{
    DeleteRequest, GetRequest, KvError, KvErrorKind, LeaseId, ListRequest, PutRequest, Revision,
};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// A key that does not exist is an answer, not an error, and the answer still tells the head.
pub async fn get_of_a_missing_key(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let written = fx.create("other", "x").await;
    let answer = fx.ok(fx.kv().get(GetRequest::new(fx.key("missing"))).await, "get of missing");
    same!(fx, answer.kv, None, "get of missing");
    holds!(
        fx,
        answer.head >= written,
        "head {} of the answer is below the last write {written}",
        answer.head
    );
}

/// A get gives all that was written with a key: its bytes, its revisions, its version, no lease.
pub async fn get_returns_what_was_put(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "one").await;
    let updated = fx.update("a", "two", created).await;
    let kv = fx.get_some("a").await;
    same!(fx, kv.key, fx.key("a"), "key");
    same!(fx, kv.value, Bytes::from("two"), "value of a at {updated}");
    same!(fx, (kv.create_revision, kv.mod_revision), (created, updated), "revisions of a");
    same!(fx, (kv.version, kv.lease), (2, None), "version and lease of a at {updated}");
}

/// Keys and values are bytes: none is special, and an empty value is a value.
pub async fn get_is_binary_safe(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let every_byte: Vec<u8> = (0..=255).collect();
    let cases: [(&str, &[u8]); 4] =
        [("empty", b""), ("zero", b"\0"), ("all", &every_byte), ("not-utf8", b"\xff\xfe\0\x80k8s\0")];
    for (name, value) in cases {
        let mut key = fx.key(name).to_vec();
        key.extend_from_slice(&[0, 0xff, 0x80]);
        let request = PutRequest::create(key.clone(), value.to_vec());
        let revision = fx.put_done(request).await;
        let answer = fx.ok(fx.kv().get(GetRequest::new(key.clone())).await, name);
        let kv = answer.kv.unwrap_or_else(|| panic!("[{}] {name} at {revision} is missing", fx.backend()));
        same!(fx, kv.value, value, "value of {name} at {revision}");
        same!(fx, kv.key, key, "key of {name} at {revision}");
    }
}

/// A get at a past revision gives the key as it stood then: absent, created, updated, deleted, created again.
pub async fn get_at_a_past_revision(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let before = fx.create("other", "x").await;
    let created = fx.create("a", "one").await;
    let updated = fx.update("a", "two", created).await;
    let deleted = fx.delete("a", updated).await;
    let again = fx.create("a", "three").await;
    let cases = [
        (before, None),
        (created, Some(("one", created, created, 1))),
        (updated, Some(("two", created, updated, 2))),
        (deleted, None),
        (again, Some(("three", again, again, 1))),
    ];
    for (revision, want) in cases {
        let kv = fx.get_at("a", revision).await;
        let got = kv.as_ref().map(|kv| (&*kv.value, kv.create_revision, kv.mod_revision, kv.version));
        let want =
            want.map(|(value, create, modified, version)| (value.as_bytes(), create, modified, version));
        same!(fx, got, want, "a at {revision}");
    }
}

/// Whatever revision a get asks for, the head in its answer is the newest.
pub async fn get_at_a_past_revision_tells_the_newest_head(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let first = fx.create("a", "one").await;
    let last = fx.update("a", "two", first).await;
    let answer =
        fx.ok(fx.kv().get(GetRequest::new(fx.key("a")).at(first)).await, "get at the first revision");
    holds!(fx, answer.head >= last, "head of a get at {first} is {}, the last write {last}", answer.head);
}

/// A revision above the head is refused, and the error names key and operation.
pub async fn get_at_a_future_revision(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let head = fx.create("a", "one").await;
    for ahead in [1_000_000, i64::MAX - head.0] {
        let wanted = Revision(head.0 + ahead);
        let result = fx.kv().get(GetRequest::new(fx.key("a")).at(wanted)).await;
        let error = fx.fails(result, KvErrorKind::FutureRevision, format_args!("get at {wanted}"));
        same!(
            fx,
            (error.operation(), error.key()),
            ("get", Some(&*fx.key("a"))),
            "operation and key of {error}"
        );
    }
}

/// Revisions of zero and below mean the newest, as in etcd.
pub async fn get_at_no_positive_revision_is_the_newest(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("a", "one").await;
    let updated = fx.update("a", "two", created).await;
    for revision in [0, -1, i64::MIN] {
        let kv = fx.get_at("a", Revision(revision)).await;
        same!(fx, kv.map(|kv| kv.mod_revision), Some(updated), "a at {revision}");
    }
}

/// An empty key is refused by every operation on one key.
pub async fn empty_key_is_refused(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let read = fx.kv().get(GetRequest::new("")).await;
    fx.fails(read, KvErrorKind::InvalidArgument, "get of an empty key");
    let written = fx.kv().optimistic_put(PutRequest::create("", "x")).await;
    fx.fails(written, KvErrorKind::InvalidArgument, "put of an empty key");
    let deleted = fx.kv().optimistic_delete(DeleteRequest::new("", Revision(0))).await;
    fx.fails(deleted, KvErrorKind::InvalidArgument, "delete of an empty key");
}

/// Errors name the method that failed, say something beyond it in a line, and name the key of a call on one key.
pub async fn errors_say_where(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let head = fx.create("a", "one").await;
    let (future, key, lease) = (Revision(head.0 + 1_000_000), fx.key("a"), LeaseId(0x7fff_ffff_0bad_1d0f));
    let put = PutRequest::update(key.clone(), "x", head).with_lease(Some(lease));
    let errors: [(&str, bool, Option<KvError>); 8] = [
        ("get", true, fx.kv().get(GetRequest::new(key.clone()).at(future)).await.err()),
        ("list", false, fx.kv().list(ListRequest::new(key.clone()).at(future)).await.err()),
        ("optimistic_put", true, fx.kv().optimistic_put(put).await.err()),
        ("optimistic_delete", false, fx.kv().optimistic_delete(DeleteRequest::new("", head)).await.err()),
        ("grant_lease", false, fx.kv().grant_lease(Duration::ZERO).await.err()),
        ("revoke_lease", false, fx.kv().revoke_lease(lease).await.err()),
        ("lease_info", false, fx.kv().lease_info(lease).await.err()),
        ("compact", false, fx.kv().compact(future).await.err()),
    ];
    for (operation, on_a_key, error) in errors {
        let Some(error) = error else { panic!("[{}] {operation} did not fail", fx.backend()) };
        same!(fx, error.operation(), operation, "operation of {error}");
        same!(fx, error.key().filter(|_| on_a_key), on_a_key.then_some(&*key), "key of {error}");
        let text = error.to_string();
        holds!(
            fx,
            text.starts_with(operation) && !text.contains('\n'),
            "text of the error of {operation}: {text}"
        );
        holds!(
            fx,
            !error.message().is_empty() && !text.ends_with('.'),
            "text of the error of {operation}: {text}"
        );
    }
}
