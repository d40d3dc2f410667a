//! What users of such stores have reported elsewhere, tried on every backend. `FAULTS.md` says where each report has its test.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "not all of it is needed here")]
mod support;

use std::{
    io::Write,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::StreamExt as _;
use kubestore_conformance::storage::{Pod, PodCodec, PodVersioner};
use kubestore_core::{
    ContinueToken, CreateOptions, ErrorKind, GetOptions, ListOptions, ResourceVersionMatch, Storage,
    StorageError, StorageExt as _, UpdateOptions, Updated,
};
use kubestore_embedded::Embedded;
use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::{
    GetRequest, Kv, KvErrorKind, PutRequest, Revision, WatchGroup, WatchItem, WatchRequest, WatchState,
    WatchTarget,
};
use kubestore_store::Store;
use kubestore_transform::{Identity, Key, Provider, ProviderChain, Transformer};

/// A store on a backend that is its own.
struct On {
    name: &'static str,
    kv: Arc<dyn Kv>,
    store: Store<Pod>,
    _etcd: Option<EtcdProcess>,
}

impl On {
    fn new(name: &'static str, kv: Arc<dyn Kv>, etcd: Option<EtcdProcess>) -> Self {
        let store = store(&kv, Arc::new(Identity));
        Self { name, kv, store, _etcd: etcd }
    }

    async fn create(&self, name: &str) -> Pod {
        let pod = Pod::new("ns", name);
        self.store.create(&pod.key(), pod, CreateOptions::default()).await.unwrap()
    }
}

fn store(kv: &Arc<dyn Kv>, transformer: Arc<dyn Transformer>) -> Store<Pod> {
    let builder = Store::builder(Arc::clone(kv), Arc::new(PodCodec), Arc::new(PodVersioner));
    builder.prefix("/registry").transformer(transformer).build()
}

async fn backends() -> [On; 2] {
    let etcd = support::etcd::start().await;
    let kv = support::etcd::connect(etcd.endpoint()).await;
    [On::new("etcd", kv, Some(etcd)), On::new("memory", Arc::new(Embedded::in_memory()), None)]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_far_above_the_newest_is_one_typed_error_however_it_is_asked_for() {
    for on in backends().await {
        let current: u64 = on.create("a").await.resource_version.parse().unwrap();
        let far = current + 1_000_000;
        let at = |matching| {
            let mut options = ListOptions::recursive();
            options.resource_version = far.to_string();
            options.resource_version_match = matching;
            options
        };
        let token =
            ContinueToken::encode(b"/registry/pods/ns/b", "/registry/pods/", far.cast_signed()).unwrap();
        let mut errors: Vec<StorageError> = Vec::new();
        for options in [
            at(ResourceVersionMatch::Unset).with_limit(38),
            at(ResourceVersionMatch::Unset),
            at(ResourceVersionMatch::Exact),
            at(ResourceVersionMatch::NotOlderThan).with_limit(38),
            ListOptions::recursive().with_limit(38).with_continue_token(token),
        ] {
            errors.push(on.store.get_list("/pods", options).await.unwrap_err());
        }
        let options = GetOptions::default().with_resource_version(far.to_string());
        errors.push(on.store.get("/pods/ns/a", options).await.unwrap_err());
        for (number, error) in errors.iter().enumerate() {
            let name = on.name;
            assert!(
                error.is_too_large_resource_version() && error.is_retryable(),
                "{name}, {number}: {error:?}"
            );
            assert_eq!(error.requested_resource_version(), Some(far), "{name}, {number}");
            assert_eq!(error.current_resource_version(), Some(current), "{name}, {number}");
            let status = error.status();
            assert_eq!((status.code, status.reason.as_str()), (504, "Timeout"), "{name}, {number}");
            assert!(!status.message.contains("mvcc"), "{name}, {number}: {}", status.message);
        }
    }
}

fn names(pods: &[Pod]) -> Vec<&str> {
    pods.iter().map(|pod| pod.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_outlives_two_compactions_goes_on_by_the_tokens_in_the_errors() {
    for on in backends().await {
        for number in 0..30 {
            on.create(&format!("p{number:02}")).await;
        }
        let page = ListOptions::recursive().with_limit(10);
        let first = on.store.get_list("/pods", page.clone()).await.unwrap();
        assert_eq!(first.items.len(), 10);
        // Two that are still to come vanish, two are new: one behind and one ahead.
        on.store.remove("/pods/ns/p12").await.unwrap();
        on.store.remove("/pods/ns/p25").await.unwrap();
        on.create("p055").await;
        let last: u64 = on.create("p155").await.resource_version.parse().unwrap();
        on.kv.compact(Revision(last.cast_signed())).await.unwrap();

        let old = page.clone().with_continue_token(first.continue_token.unwrap());
        let error = on.store.get_list("/pods", old).await.unwrap_err();
        assert_eq!((error.kind(), error.status().code), (ErrorKind::Expired, 410), "{}", on.name);
        let fresh = page.clone().with_continue_token(error.continue_token().unwrap());
        let second = on.store.get_list("/pods", fresh).await.unwrap();
        assert!(second.resource_version >= last, "{}", on.name);
        assert_eq!(names(&second.items)[..5], ["p10", "p11", "p13", "p14", "p15"], "{}", on.name);

        // The second token is overtaken as well.
        let later: u64 = on.create("p99").await.resource_version.parse().unwrap();
        on.kv.compact(Revision(later.cast_signed())).await.unwrap();
        let old = page.clone().with_continue_token(second.continue_token.clone().unwrap());
        let error = on.store.get_list("/pods", old).await.unwrap_err();
        let rest = ListOptions::recursive().with_continue_token(error.continue_token().unwrap());
        let third = on.store.get_list("/pods", rest).await.unwrap();
        assert!(third.continue_token.is_none() && third.resource_version >= later, "{}", on.name);
        let all: Vec<_> =
            [&first.items, &second.items, &third.items].into_iter().flat_map(|items| names(items)).collect();
        let stayed =
            (0..30).filter(|number| ![12, 25].contains(number)).map(|number| format!("p{number:02}"));
        for name in stayed {
            assert_eq!(
                all.iter().filter(|listed| **listed == name).count(),
                1,
                "{}: {name} in {all:?}",
                on.name
            );
        }
        assert!(all.is_sorted() && all.contains(&"p155") && all.ends_with(&["p99"]), "{}: {all:?}", on.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_too_large_is_refused_alike_plain_encrypted_and_with_a_ttl() {
    const KIB: usize = 1024;
    let key = Key::new("key", [7; 32]).unwrap();
    let encrypted = ProviderChain::new([Provider::aes_gcm([key]).unwrap()]).unwrap();
    let transformers: [(&str, Arc<dyn Transformer>); 2] =
        [("plain", Arc::new(Identity)), ("encrypted", Arc::new(encrypted))];
    for on in backends().await {
        for (form, transformer) in &transformers {
            let store = store(&on.kv, Arc::clone(transformer));
            // Ciphers take their time where they are not optimized.
            let sizes = if *form == "plain" { &[1_400, 1_600, 2_100, 5_120][..] } else { &[1_400, 1_600] };
            for (number, size) in sizes.iter().map(|size| size * KIB).enumerate() {
                let fits = size < 1_500 * KIB;
                let mut pod = Pod::new("ns", &format!("{form}-{number}"));
                let key = pod.key();
                let small = pod.clone();
                pod.annotations.insert("large".to_owned(), "x".repeat(size));
                let what = format!("{size} bytes, {form}, on {}", on.name);
                for ttl in [0, 600] {
                    let options = CreateOptions::default().with_ttl(ttl);
                    let created = store.create(&key, pod.clone(), options).await;
                    assert_refused_if_large(created.as_ref().err(), fits, &what);
                    if created.is_ok() {
                        store.remove(&key).await.unwrap();
                    }
                }
                store.create(&key, small, CreateOptions::default()).await.unwrap();
                let mut grow = |_: Option<Pod>, _| Ok(Updated::new(pod.clone()));
                let updated = store.guaranteed_update(&key, UpdateOptions::default(), &mut grow, None).await;
                assert_refused_if_large(updated.as_ref().err(), fits, &what);
            }
        }
    }
}

fn assert_refused_if_large(error: Option<&StorageError>, fits: bool, what: &str) {
    let kinds = error.map(|error| (error.kind(), error.status().code, error.is_retryable()));
    let want = (!fits).then_some((ErrorKind::RequestTooLarge, 413, false));
    assert_eq!(kinds, want, "{what}: {error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn too_frequent_keepalives_are_refused_and_the_shortest_allowed_are_no_nuisance_to_the_server() {
    let etcd = support::etcd::start().await;
    let keepalive = |interval| {
        let timeout = Duration::from_secs(2);
        EtcdKv::builder().endpoints([etcd.endpoint()]).keepalive(interval, timeout).connect()
    };
    let error = keepalive(Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::InvalidArgument);
    assert!(error.to_string().contains("keepalive interval 1s is too short"), "{error}");

    let kv = keepalive(Duration::from_secs(5)).await.unwrap();
    let target = WatchTarget::Prefix("/quiet/".into());
    let mut watch = kv.watch(WatchRequest::new(WatchGroup::new(), target)).await.unwrap();
    kv.get(GetRequest::new("/quiet/a")).await.unwrap();
    // Three probes and more, at which a server that minds would have said goodbye.
    let quiet = tokio::time::timeout(Duration::from_secs(17), async {
        loop {
            match watch.next().await.unwrap().unwrap() {
                WatchItem::State(WatchState::Reconnecting { .. }) => {
                    panic!("the server closed the connection")
                }
                WatchItem::Events { events, .. } => panic!("nothing was written, and {events:?} came"),
                _ => {}
            }
        }
    });
    assert!(quiet.await.is_err());
    kv.optimistic_put(PutRequest::create("/quiet/a", "x")).await.unwrap();
    let told = watch.next().await.unwrap().unwrap();
    assert!(
        matches!(&told, WatchItem::Events { events, .. } if *events[0].kv.key == *b"/quiet/a"),
        "{told:?}"
    );
}

/// Lines of the log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// As after a restore from an old backup: whoever remembers a revision asks for more than there is.
#[tokio::test]
async fn a_watch_from_above_the_newest_revision_is_warned_of() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _logged = tracing::subscriber::set_default(subscriber);
    let etcd = support::etcd::start().await;
    let kv = support::etcd::connect(etcd.endpoint()).await;
    let target = || WatchTarget::Prefix("/restored/".into());
    let mut future =
        kv.watch(WatchRequest::new(WatchGroup::new(), target()).from(Revision(4))).await.unwrap();
    let text = || String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(
        text().contains("WARN") && text().contains("watch starts above the newest revision"),
        "{}",
        text()
    );
    assert!(text().contains("start=4 head=1"), "{}", text());
    for number in 2..=4 {
        kv.optimistic_put(PutRequest::create(format!("/restored/{number}"), "x")).await.unwrap();
    }
    let told = future.next().await.unwrap().unwrap();
    assert!(
        matches!(told, WatchItem::Events { through: Revision(4), ref events } if events.len() == 1),
        "{told:?}"
    );
}
