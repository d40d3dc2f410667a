//! Snapshots of etcds that run, against what these say themselves. `KUBESTORE_ETCD` names another version.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, LazyLock},
    time::Duration,
};

use bytes::Bytes;
use common::Random;
use futures_util::{StreamExt, TryStreamExt, stream};
use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::{
    DeleteRequest, Expect, GetRequest, KeyValue, Kv, KvErrorKind, KvEvent, ListRequest, PutRequest, Revision,
    WatchGroup, WatchItem, WatchRequest, WatchTarget, WriteOutcome,
};
use kubestore_snapshot::{Snapshot, SnapshotErrorKind, SnapshotOptions};
use kubestore_transform::{Key, Provider, ProviderChain, Transformer, ValueContext};

/// What encrypts the values of a key: each kind is under a provider of its own.
static PROVIDERS: LazyLock<[Arc<dyn Transformer>; 3]> = LazyLock::new(|| {
    let key = |name| Key::new(name, [7; 32]).unwrap();
    let chain =
        |provider: Provider| -> Arc<dyn Transformer> { Arc::new(ProviderChain::new([provider]).unwrap()) };
    [
        chain(Provider::aes_gcm([key("gcm")]).unwrap()),
        chain(Provider::secretbox([key("box")]).unwrap()),
        chain(Provider::aes_cbc([key("cbc")]).unwrap()),
    ]
});

fn provider(key: &str) -> &'static dyn Transformer {
    let kind = KINDS.iter().position(|kind| key.starts_with(&format!("/registry/{kind}/")));
    &*PROVIDERS[kind.unwrap()]
}

async fn sealed(key: &str, value: String) -> Bytes {
    provider(key).transform_to_storage(value.into(), ValueContext::new(key.as_bytes())).await.unwrap()
}

/// Opens every value, and returns how many there were.
async fn opened(kvs: &[KeyValue]) -> usize {
    let mut count = 0;
    for kv in kvs.iter().filter(|kv| !kv.key.starts_with(b"/registry/events/")) {
        let key = std::str::from_utf8(&kv.key).unwrap();
        let opened =
            provider(key).transform_from_storage(kv.value.clone(), ValueContext::new(&kv.key)).await.unwrap();
        let text = String::from_utf8(opened.data.to_vec()).unwrap();
        let number: usize = key.rsplit('/').next().unwrap().parse().unwrap();
        let own = format!("{number}-");
        assert!(text.is_empty() || text.starts_with(&own) || text.starts_with("changed "), "{key}");
        count += 1;
    }
    count
}

fn revision(outcome: WriteOutcome) -> Revision {
    match outcome {
        WriteOutcome::Done { revision } => revision,
        other => panic!("the write did not happen: {other:?}"),
    }
}

/// Writes so many keys several at a time; every tenth is small, every hundredth has several pages.
async fn create(kv: &EtcdKv, numbers: std::ops::Range<usize>) {
    let writes = numbers.map(|number| async move {
        let size = if number % 100 == 0 { 20_000 } else { 20 + number % 10 * 100 };
        let value = format!("{number}-").repeat(size / 4);
        let value = sealed(&key(number), value).await;
        revision(kv.optimistic_put(PutRequest::create(key(number), value)).await.unwrap())
    });
    stream::iter(writes).buffer_unordered(64).collect::<Vec<_>>().await;
}

const KINDS: [&str; 3] = ["secrets", "configmaps", "leases"];

fn key(number: usize) -> String {
    let kind = KINDS[number % 3];
    format!("/registry/{kind}/ns-{}/{number:05}", number % 7)
}

async fn change(kv: &EtcdKv, random: &mut Random, count: usize, most: usize) {
    for _ in 0..count {
        let key = key(random.below(most));
        let found = kv.get(GetRequest::new(key.clone())).await.unwrap().kv;
        let at = found.as_ref().map_or(Revision(0), |kv| kv.mod_revision);
        let outcome = if found.is_some() && random.below(2) == 0 {
            kv.optimistic_delete(DeleteRequest::new(key, at)).await
        } else {
            let value = sealed(&key, "changed ".repeat(random.below(200))).await;
            kv.optimistic_put(PutRequest::create(key, value).with_expect(Expect::ModRevision(at))).await
        };
        revision(outcome.unwrap());
    }
}

async fn state(kv: &dyn Kv, at: Revision) -> Vec<KeyValue> {
    let chunks: Vec<_> = kv.list_chunks(ListRequest::new("/").at(at)).try_collect().await.unwrap();
    assert_eq!(chunks.last().unwrap().end.unwrap().revision, at);
    chunks.into_iter().flat_map(|chunk| chunk.kvs).collect()
}

async fn history(kv: &dyn Kv, from: Revision, to: Revision) -> Vec<KvEvent> {
    let target = WatchTarget::Prefix("/registry/".into());
    let request = WatchRequest::new(WatchGroup::new(), target).from(from).with_previous();
    let mut watch = kv.watch(request).await.unwrap();
    let mut told = Vec::new();
    while told.last().is_none_or(|last: &KvEvent| last.kv.mod_revision < to) {
        match watch.next().await.unwrap().unwrap() {
            WatchItem::Events { events, .. } => told.extend(events),
            WatchItem::Progress(at) => assert!(at >= to, "the end of the history is not told"),
            _ => {}
        }
    }
    told
}

/// All states from the compacted revision on: the values, versions and revisions, leases, and the way between them.
async fn compare(etcd: &EtcdKv, snapshot: &Snapshot, revisions: &[Revision], compacted: Revision) {
    let head = etcd.get(GetRequest::new("/")).await.unwrap().head;
    assert_eq!((snapshot.info().head, snapshot.info().compacted), (head, compacted));
    for at in revisions.iter().copied().chain([compacted, head]) {
        let (ours, theirs) = (state(snapshot, at).await, state(etcd, at).await);
        assert_eq!(ours.len(), theirs.len(), "at {at}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(ours, theirs, "at {at}");
        }
    }
    let count = etcd.count("/registry/secrets/".into()).await.unwrap();
    assert_eq!(snapshot.count("/registry/secrets/".into()).await.unwrap(), count);
    for wrong in [compacted.0 - 1, head.0 + 1] {
        let request = ListRequest::new("/").at(Revision(wrong));
        let (ours, theirs) = (snapshot.list(request.clone()).await, etcd.list(request).await);
        let (ours, theirs) = (ours.unwrap_err(), theirs.unwrap_err());
        assert_eq!(ours.kind(), theirs.kind());
        assert!(matches!(ours.kind(), KvErrorKind::Compacted | KvErrorKind::FutureRevision));
    }
    let from = compacted.next();
    let (ours, theirs) = (history(snapshot, from, head).await, history(etcd, from, head).await);
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!((ours.kind, &ours.kv), (theirs.kind, &theirs.kv));
        assert_eq!(ours.previous, theirs.previous, "{:?}", ours.kv);
    }
}

async fn ten_thousand_objects(etcd: &EtcdProcess) {
    let kv = EtcdKv::connect([etcd.endpoint()]).await.unwrap();
    create(&kv, 0..10_000).await;
    let mut random = Random::new(3);
    change(&kv, &mut random, 500, 10_000).await;
    let compacted = kv.get(GetRequest::new("/")).await.unwrap().head;
    kv.compact(compacted).await.unwrap();
    let lease = kv.grant_lease(Duration::from_secs(3000)).await.unwrap();
    let put = PutRequest::create("/registry/events/ns/a", "leased").with_lease(Some(lease.id));
    kv.optimistic_put(put).await.unwrap();
    // The keys of a lease that ends are deleted in one revision.
    let ended = kv.grant_lease(Duration::from_secs(3000)).await.unwrap();
    for name in ["c", "b", "d"] {
        let put =
            PutRequest::create(format!("/registry/events/ns/{name}"), "leased").with_lease(Some(ended.id));
        kv.optimistic_put(put).await.unwrap();
    }
    kv.revoke_lease(ended.id).await.unwrap();
    let mut past = Vec::new();
    for _ in 0..3 {
        change(&kv, &mut random, 300, 300).await;
        past.push(kv.get(GetRequest::new("/")).await.unwrap().head);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snapshot.db");
    std::fs::write(&path, common::save(etcd.address())).unwrap();
    let snapshot = Snapshot::open(&path).await.unwrap();
    assert_eq!(snapshot.info().checksum_verified, Some(true));
    compare(&kv, &snapshot, &past, compacted).await;
    // Versions beyond the first, deletions and returns were among what was compared.
    let head = state(&snapshot, snapshot.info().head).await;
    assert!(head.iter().any(|kv| kv.version > 3) && head.iter().any(|kv| kv.create_revision > compacted));
    assert!(head.len() > 9_000 && head.len() < 10_000, "{}", head.len());
    for at in past {
        let state = state(&snapshot, at).await;
        assert_eq!(opened(&state).await, state.len() - 1, "all but the leased one");
    }

    let leases: Vec<_> = snapshot.leases().collect();
    assert_eq!(leases.len(), 1);
    assert_eq!((leases[0].id, leases[0].info.granted), (lease.id, Duration::from_secs(3000)));
    assert_eq!(snapshot.lease_info(lease.id).await.unwrap(), leases[0].info);
    assert_eq!(snapshot.lease_info(ended.id).await.unwrap_err().kind(), KvErrorKind::LeaseNotFound);
    let leased = snapshot.get(GetRequest::new("/registry/events/ns/a")).await.unwrap().kv.unwrap();
    assert_eq!(leased.lease, Some(lease.id));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_running_etcd_says_is_in_its_snapshot() {
    ten_thousand_objects(&EtcdProcess::start().await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_etcd_and_one_with_nothing_left() {
    let etcd = EtcdProcess::start().await.unwrap();
    let kv = EtcdKv::connect([etcd.endpoint()]).await.unwrap();
    let open = || Snapshot::from_bytes(common::save(etcd.address()), SnapshotOptions::default());
    let empty = open().await.unwrap();
    assert_eq!((empty.info().head, empty.info().keys), (Revision(1), 0));
    assert_eq!(empty.list(ListRequest::new("")).await.unwrap().count, Some(0));
    let created = revision(kv.optimistic_put(PutRequest::create("/a", "1")).await.unwrap());
    let deleted = revision(kv.optimistic_delete(DeleteRequest::new("/a", created)).await.unwrap());
    kv.compact(deleted).await.unwrap();
    let nothing = open().await.unwrap();
    assert_eq!((nothing.info().head, nothing.info().compacted), (deleted, deleted));
    assert_eq!(nothing.get(GetRequest::new("/a")).await.unwrap().kv, None);
}

/// The file itself, which is locked while etcd runs, and may be read once it does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_of_a_stopped_etcd() {
    let folder = tempfile::tempdir().unwrap();
    let data: PathBuf = folder.path().join("other");
    let mut etcd = EtcdProcess::start_with([format!("--data-dir={}", data.display())]).await.unwrap();
    let kv = EtcdKv::connect([etcd.endpoint()]).await.unwrap();
    create(&kv, 0..1000).await;
    change(&kv, &mut Random::new(4), 300, 300).await;
    // Asking for a snapshot has etcd write down all that it has.
    let saved = Snapshot::from_bytes(common::save(etcd.address()), SnapshotOptions::default()).await.unwrap();
    let path = data.join("member/snap/db");
    let error = Snapshot::open(&path).await.unwrap_err();
    assert_eq!(error.kind(), SnapshotErrorKind::InUse);
    etcd.kill();
    let database = Snapshot::open(&path).await.unwrap();
    assert_eq!(database.info().checksum_verified, None);
    assert_eq!(database.info().head, saved.info().head);
    let all =
        |kvs: Vec<KeyValue>| kvs.into_iter().map(|kv| (kv.key.clone(), kv)).collect::<BTreeMap<Bytes, _>>();
    let head = saved.info().head;
    assert_eq!(all(state(&database, head).await), all(state(&saved, head).await));
    assert_eq!(state(&database, Revision(700)).await, state(&saved, Revision(700)).await);
}
