//! Cases: creating, reading and counting objects.

use std::time::Duration;

use kubestore_core::{
    CreateOptions, ErrorKind, GetOptions, ListOptions, ResponseMeta, UpdateOptions, Updated, WatchOptions,
};

use super::{
    Pod, StorageHarness, Tampering,
    fixture::{Fixture, holds, same},
};

/// A new object gets a resource version and is stored without it; one that has a resource version already is refused.
pub async fn create(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let pod = Pod::new("test-ns", "foo");
    fx.is_gone(&pod.key()).await;
    let created = fx.create(&pod).await;
    holds!(fx, created.version() > 0, "{} has no resource version", pod.key());
    same!(fx, created.clone().at(""), pod, "what the create of {} returned", pod.key());
    same!(fx, stored(&fx, &pod.key()).await, Some(pod.clone()), "what is stored at {}", pod.key());
    same!(fx, fx.ok(fx.get(&pod.key()).await, "get"), Some(created), "what is read at {}", pod.key());

    let versioned = Pod::new("test-ns", "bar").at("1");
    let refused = fx.store().create(&versioned.key(), versioned.clone(), CreateOptions::default()).await;
    fx.fails(refused, ErrorKind::Other, "create with a resource version");
    fx.is_gone(&versioned.key()).await;
}

/// The stored form of the object at `key`, decoded.
pub(super) async fn stored(fx: &Fixture, key: &str) -> Option<Pod> {
    let bytes = fx.hook("stored", fx.instance().stored(key).await)?;
    match serde_json::from_slice(&bytes) {
        Ok(pod) => Some(pod),
        Err(error) => panic!("[{}] what is stored at {key} is no pod: {error}", fx.backend()),
    }
}

/// An object with a TTL of a second goes away by itself, and a watch tells.
pub async fn create_with_ttl(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let pod = Pod::new("test-ns", "foo");
    let created = fx.store().create(&pod.key(), pod.clone(), CreateOptions::default().with_ttl(1)).await;
    let created = fx.ok(created, "create with a TTL");
    ends_by_itself(&fx, &created).await;
}

/// Checks that `pod`, which was given a TTL of a second, is deleted and that a watch tells so.
pub(super) async fn ends_by_itself(fx: &Fixture, pod: &Pod) {
    let options = WatchOptions::default().with_resource_version(&pod.resource_version);
    let mut watch = fx.watch(&pod.key(), options).await;
    // The shortest lease that a backend grants may be longer than what was asked for.
    fx.advance_time(Duration::from_secs(3)).await;
    let event = watch.next().await;
    same!(fx, event.event_type(), "DELETED", "the event at the end of the TTL");
    same!(fx, event.object().map(|last| last.name.clone()), Some(pod.name.clone()), "the object that ended");
    fx.is_gone(&pod.key()).await;
}

/// A second create of a key is refused and changes nothing.
pub async fn create_with_key_exist(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let pod = Pod::new("test-ns", "foo");
    let created = fx.create(&pod).await;
    let again = fx.store().create(&pod.key(), pod.clone().running(), CreateOptions::default()).await;
    fx.fails(again, ErrorKind::KeyExists, "second create");
    same!(fx, fx.ok(fx.get(&pod.key()).await, "get"), Some(created), "object after the refused create");
}

/// A get gives the newest state whatever older resource version it asks for, waits for none that has not happened, and
/// takes a missing object as it is told to.
pub async fn get(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create(&Pod::new("test-ns", "foo")).await;
    let key = created.key();
    let stored = fx.change(&key, |pod| pod.annotated("test-annotation", "1")).await;
    let last = fx.create(&Pod::new("test-ns", "bar")).await;

    let plain = GetOptions::default;
    for version in ["", "0", &created.resource_version, &stored.resource_version, &last.resource_version] {
        let found = fx.store().get(&key, plain().with_resource_version(version)).await;
        same!(fx, fx.ok(found, "get"), Some(stored.clone()), "{key}, not older than {version:?}");
    }
    let beyond = fx.store().get(&key, plain().with_resource_version(i64::MAX.to_string())).await;
    fx.fails(beyond, ErrorKind::TooLargeResourceVersion, "get at a future resource version");
    let nonsense = fx.store().get(&key, plain().with_resource_version("abc")).await;
    fx.fails(nonsense, ErrorKind::BadRequest, "get at a resource version that is no number");
    fx.fails(fx.get("/non-existing").await, ErrorKind::KeyNotFound, "get of a missing object");
    let ignored = fx.store().get("/non-existing", plain().ignore_not_found()).await;
    same!(fx, fx.ok(ignored, "get of a missing object"), None, "a missing object that may be missing");
}

/// A count is of everything below the key and of nothing beside it.
pub async fn count(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    for (resource, objects) in [("/foo.bar.io/abc", 5), ("/foo.bar.io/abcdef", 4)] {
        for number in 0..objects {
            let pod = Pod::new("", &format!("foo-{number}"));
            let created =
                fx.store().create(&format!("{resource}/{number}"), pod, CreateOptions::default()).await;
            fx.ok(created, "create");
        }
    }
    for (key, want) in [("/foo.bar.io/abc", 5), ("/foo.bar.io/abcdef", 4), ("/foo.bar.io", 9), ("/none", 0)] {
        same!(fx, fx.ok(fx.store().count(key).await, "count"), want, "count of {key}");
    }
}

/// An object whose value cannot be opened fails every operation on it and every list it is in, and stays where it is.
pub async fn transformation_failure(harness: &dyn StorageHarness) {
    let fx = Fixture::shared(harness).await;
    fx.create(&Pod::new("first", "bar")).await;
    fx.hook("tamper", fx.instance().tamper(Tampering::Spoil));
    let spoiled = fx.create(&Pod::new("second", "baz")).await;
    fx.hook("tamper", fx.instance().tamper(Tampering::None));
    let key = spoiled.key();

    let listed = fx.store().get_list("/pods", ListOptions::recursive()).await;
    fx.fails(listed, ErrorKind::Internal, "list");
    fx.fails(fx.get(&key).await, ErrorKind::Internal, "get");
    for cached in [None, Some(spoiled)] {
        let mut unchanged = |pod: Option<Pod>, _: ResponseMeta| Ok(Updated::new(pod.unwrap_or_default()));
        let what = format!("update, cached: {}", cached.is_some());
        let updated =
            fx.store().guaranteed_update(&key, UpdateOptions::default(), &mut unchanged, cached).await;
        fx.fails(updated, ErrorKind::Internal, what);
    }
    fx.fails(fx.try_delete(&key, None).await, ErrorKind::Internal, "delete");
    fx.fails(fx.get(&key).await, ErrorKind::Internal, "get after the refused delete");
    let whole = fx.list("/pods/first", ListOptions::recursive()).await;
    same!(fx, whole.items.len(), 1, "objects of a list without the spoiled one");
}
