//! Cases: changing objects.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use kubestore_core::{
    ErrorKind, Preconditions, ResponseMeta, Result, StorageError, UpdateFn, UpdateOptions, Updated,
};
use tokio::sync::Notify;

use super::{
    Pod, StorageHarness, Tampering,
    create::{ends_by_itself, stored},
    fixture::{Fixture, holds, same},
};

fn foo() -> Pod {
    Pod::new("test-ns", "foo")
}

/// Replaces what is at `key` by `pod`.
async fn replace(
    fx: &Fixture,
    key: &str,
    pod: &Pod,
    options: UpdateOptions,
    cached: Option<Pod>,
) -> Result<Pod> {
    let mut update = |_: Option<Pod>, _: ResponseMeta| Ok(Updated::new(pod.clone()));
    fx.store().guaranteed_update(key, options, &mut update, cached).await
}

/// An update writes what changes, writes nothing otherwise unless what is stored is stale, creates only where it may,
/// and checks preconditions. Self links are never stored.
pub async fn guaranteed_update(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&foo().with_uid("A")).await;
    let key = created.key();
    let plain = UpdateOptions::default;
    let uid = |uid| plain().with_preconditions(Preconditions::uid(uid));
    let linked = Pod { self_link: "testlink".to_owned(), ..created.clone() };

    let missing = replace(&fx, "/non-existing", &created, plain(), None).await;
    fx.fails(missing, ErrorKind::KeyNotFound, "update of nothing");
    let new = replace(&fx, "/non-existing", &foo(), plain().ignore_not_found(), None).await;
    holds!(
        fx,
        fx.ok(new, "update that creates").version() > created.version(),
        "a created object is not newer"
    );

    let changed = created.clone().annotated("version", "2");
    let updated = fx.ok(replace(&fx, &key, &changed, plain(), None).await, "update");
    holds!(fx, updated.version() > created.version(), "{updated:?} is not newer than {created:?}");
    same!(fx, updated.clone().at(""), changed.clone().at(""), "the updated object");
    same!(fx, stored(&fx, &key).await, Some(changed.clone().at("")), "what is stored at {key}");

    let same_data = [
        ("the same", changed.clone(), plain()),
        ("a self link", Pod { self_link: linked.self_link, ..changed.clone() }, plain()),
        ("the same, right UID", changed.clone(), uid("A")),
    ];
    for (what, pod, options) in same_data {
        let kept = fx.ok(replace(&fx, &key, &pod, options, None).await, what);
        same!(fx, kept, updated, "object after an update with {what}");
    }
    let refused = replace(&fx, &key, &changed.clone().running(), uid("B"), None).await;
    fx.fails(refused, ErrorKind::InvalidObject, "update with another UID");
    same!(fx, fx.ok(fx.get(&key).await, "get"), Some(updated.clone()), "object after the refused update");

    fx.hook("tamper", fx.instance().tamper(Tampering::Stale));
    let rewritten = fx.ok(replace(&fx, &key, &changed, plain(), None).await, "update of a stale value");
    holds!(fx, rewritten.version() > updated.version(), "a stale value was not written again");
    same!(fx, rewritten.at(""), changed.at(""), "the object written again");
}

/// An update can give a TTL.
pub async fn guaranteed_update_with_ttl(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let mut update = |_: Option<Pod>, _: ResponseMeta| Ok(Updated::new(foo()).with_ttl(1));
    let options = UpdateOptions::default().ignore_not_found();
    let created = fx.store().guaranteed_update(&foo().key(), options, &mut update, None).await;
    ends_by_itself(&fx, &fx.ok(created, "update with a TTL")).await;
}

/// Whether an update changes anything is decided by the bytes that are stored, also with a cached copy.
pub async fn guaranteed_update_checks_stored_data(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    fx.hook("tamper", fx.instance().tamper(Tampering::WhiteSpace));
    let initial = fx.create(&foo()).await;
    let key = initial.key();
    fx.hook("tamper", fx.instance().tamper(Tampering::None));
    let unchanged = async |pod: &Pod| {
        let options = UpdateOptions::default().ignore_not_found();
        fx.ok(replace(&fx, &key, pod, options, Some(pod.clone())).await, "update with what is there")
    };
    let rewritten = unchanged(&initial).await;
    holds!(fx, rewritten.version() > initial.version(), "a value with white space was not written again");
    let kept = unchanged(&rewritten).await;
    same!(fx, kept, rewritten, "object after an update with what is there");
    fx.hook("tamper", fx.instance().tamper(Tampering::Stale));
    let again = unchanged(&kept).await;
    holds!(fx, again.version() > kept.version(), "a stale value was not written again");
}

/// Waits, on its first call, until it may go on, after it has told that it is there.
struct Slow {
    calls: Arc<AtomicUsize>,
    entered: Arc<Notify>,
    go_on: Arc<Notify>,
}

#[async_trait]
impl UpdateFn<Pod> for Slow {
    async fn update(&mut self, current: Option<Pod>, _: ResponseMeta) -> Result<Updated<Pod>> {
        if self.calls.fetch_add(1, Ordering::Relaxed) == 0 {
            self.entered.notify_one();
            self.go_on.notified().await;
        }
        Ok(Updated::new(current.unwrap_or_default().labelled("second", "yes")))
    }
}

/// Of two updates at once the slower one is computed again on the result of the faster: none is lost.
pub async fn guaranteed_update_with_conflict(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&foo()).await;
    let key = created.key();
    let (calls, entered, go_on) =
        (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let mut slow =
        Slow { calls: Arc::clone(&calls), entered: Arc::clone(&entered), go_on: Arc::clone(&go_on) };
    let slower = fx.store().guaranteed_update(&key, UpdateOptions::default(), &mut slow, None);
    let faster = async {
        entered.notified().await;
        let updated = fx.change(&key, |pod| pod.labelled("first", "yes")).await;
        go_on.notify_one();
        updated
    };
    let (slower, faster) = tokio::join!(slower, faster);
    let slower = fx.ok(slower, "slower update");
    same!(fx, calls.load(Ordering::Relaxed), 2, "calls of the slower update");
    holds!(fx, slower.version() > faster.version(), "{slower:?} is not newer than {faster:?}");
    let want = created.labelled("first", "yes").labelled("second", "yes").at(&slower.resource_version);
    same!(fx, slower, want, "the object after both updates");
}

/// An outdated cached copy may be refused by the update function: it is then called once more, on the current object.
/// A refusal of a current one is final.
pub async fn guaranteed_update_with_suggestion_and_conflict(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&foo()).await;
    let key = created.key();
    fx.change(&key, |pod| Pod { generation: 2, ..pod }).await;

    let mut generations = Vec::new();
    let mut update = |pod: Option<Pod>, _: ResponseMeta| {
        let pod = pod.unwrap_or_default();
        generations.push(pod.generation);
        if pod.generation == 2 {
            Ok(Updated::new(Pod { generation: 3, ..pod }))
        } else {
            Err(StorageError::conflict("name"))
        }
    };
    let updated =
        fx.store().guaranteed_update(&key, UpdateOptions::default(), &mut update, Some(created)).await;
    let updated = fx.ok(updated, "update with an old copy");
    same!(fx, updated.generation, 3, "generation");
    same!(fx, generations, [0, 2], "generations that the update function saw");

    let mut attempts = 0;
    let mut refuse = |_: Option<Pod>, _: ResponseMeta| {
        attempts += 1;
        Err(StorageError::callback("validation or admission error"))
    };
    let options = UpdateOptions::default();
    let refused = fx.store().guaranteed_update(&key, options, &mut refuse, Some(updated.clone())).await;
    let error = fx.fails(refused, ErrorKind::Callback, "update that is not allowed");
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    same!(
        fx,
        cause.as_deref(),
        Some("validation or admission error"),
        "the function's own error in {error:?}"
    );
    holds!(fx, attempts <= 2, "{attempts} attempts, want two at most");
    same!(fx, fx.ok(fx.get(&key).await, "get"), Some(updated), "object after the refused update");
}
