//! Cases: many clients at once.

use std::sync::Mutex;

use futures_util::future::join_all;
use kubestore_kv::{GetRequest, KeyValue, ListRequest, PutRequest, Revision, WriteOutcome};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// Of many creates of one key exactly one happens.
pub async fn one_of_many_creates_wins(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    for round in 0..10 {
        let name = format!("k{round}");
        let creates = (0..16).map(|client| fx.put(PutRequest::create(fx.key(&name), client.to_string())));
        let outcomes = join_all(creates).await;
        let done = outcomes.iter().enumerate().filter_map(|(client, outcome)| match outcome {
            WriteOutcome::Done { revision } => Some((client.to_string(), *revision)),
            _ => None,
        });
        let winners: Vec<_> = done.collect();
        let kv = fx.get_some(&name).await;
        let kept = (String::from_utf8_lossy(&kv.value).into_owned(), kv.mod_revision);
        same!(fx, winners, [kept], "winners of the creates of {name}, against what is kept");
    }
}

/// Counting up by read and conditional put loses no count, and the answer to a lost race is good enough to try again
/// with.
pub async fn concurrent_updates_lose_nothing(harness: &dyn Harness) {
    const CLIENTS: u64 = 8;
    const ROUNDS: u64 = 20;
    let fx = Fixture::shared(harness).await;
    fx.create("counter", "0").await;
    let count_up = async |mut kv: KeyValue| {
        for _ in 0..=CLIENTS * ROUNDS {
            let counted = String::from_utf8_lossy(&kv.value).parse().map_or(0, |count: u64| count + 1);
            let request = PutRequest::update(fx.key("counter"), counted.to_string(), kv.mod_revision);
            match fx.put(request).await {
                WriteOutcome::Done { .. } => return,
                WriteOutcome::Conflict { current: Some(current), .. } => kv = current,
                other => panic!("[{}] counting up: got {other:?}", fx.backend()),
            }
        }
        panic!("[{}] lost more races than there are writes", fx.backend());
    };
    let clients = (0..CLIENTS).map(async |_| {
        for _ in 0..ROUNDS {
            count_up(fx.get_some("counter").await).await;
        }
    });
    join_all(clients).await;
    let kv = fx.get_some("counter").await;
    let (count, version) = (CLIENTS * ROUNDS, i64::try_from(CLIENTS * ROUNDS + 1));
    same!(fx, (&*kv.value, Ok(kv.version)), (count.to_string().as_bytes(), version), "counter");
}

/// A read sees every write that was acknowledged before it began, on every way of reading.
pub async fn reads_see_acknowledged_writes(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let clients = (0..16).map(async |client| {
        let name = format!("l{client}/k");
        let mut revision = fx.create(&name, "0").await;
        for number in 1..15 {
            revision = fx.update(&name, number.to_string(), revision).await;
            let answer = fx.ok(fx.kv().get(GetRequest::new(fx.key(&name))).await, "get");
            same!(fx, answer.kv.map(|kv| kv.mod_revision), Some(revision), "get of {name} after its write");
            holds!(
                fx,
                answer.head >= revision,
                "head {} of a get after the write at {revision}",
                answer.head
            );
            let listed = fx.list(ListRequest::new(fx.key(&format!("l{client}/")))).await;
            same!(fx, listed.kvs[0].mod_revision, revision, "list of {name} after its write");
        }
    });
    join_all(clients).await;
}

/// A list at head R holds every write acknowledged at or below R, and the same list asked for at R again is equal.
pub async fn list_at_its_head_is_complete(harness: &dyn Harness) {
    const WRITERS: usize = 16;
    const WRITES: usize = 25;
    let fx = Fixture::shared(harness).await;
    let acknowledged = Mutex::new(Vec::new());
    let writers = join_all((0..WRITERS).map(async |writer| {
        for number in 0..WRITES {
            let name = format!("l/{writer}-{number}");
            let revision = fx.create(&name, "x").await;
            acknowledged.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((revision, name));
        }
    }));
    let listers = join_all((0..4).map(async |_| {
        let mut lists = Vec::new();
        while lists.last().is_none_or(|list: &kubestore_kv::ListResponse| list.kvs.len() < WRITERS * WRITES) {
            lists.push(fx.list(ListRequest::new(fx.key("l/")).keys_only()).await);
        }
        lists
    }));
    let (_written, lists) = tokio::join!(writers, listers);
    let acknowledged = acknowledged.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for list in lists.into_iter().flatten() {
        let mut want: Vec<(Revision, String)> =
            acknowledged.iter().filter(|(revision, _)| *revision <= list.head).cloned().collect();
        let mut got: Vec<_> = list.kvs.iter().map(|kv| (kv.mod_revision, fx.name(&kv.key))).collect();
        want.sort();
        got.sort();
        holds!(fx, got == want, "list at {}: {} keys, want {}", list.head, got.len(), want.len());
        let again = fx.list(ListRequest::new(fx.key("l/")).keys_only().at(list.head)).await;
        holds!(fx, again.kvs == list.kvs, "the list at {} differs when asked for again", list.head);
    }
}

/// A write whose future is dropped happened whole or not at all, and the backend goes on.
pub async fn dropped_write_is_whole_or_absent(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let value = vec![b'v'; 100_000];
    for number in 0..20 {
        let name = format!("k{number:02}");
        let patience = async {
            for _ in 0..number % 4 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            _ = fx.kv().optimistic_put(PutRequest::create(fx.key(&name), value.clone())) => {}
            () = patience => {}
        }
    }
    let last = fx.create("last", "x").await;
    let listed = fx.list(ListRequest::new(fx.key("k"))).await;
    for kv in listed.kvs {
        let name = fx.name(&kv.key);
        holds!(
            fx,
            kv.value == value,
            "{name} at {} has {} bytes of another value",
            kv.mod_revision,
            kv.value.len()
        );
        same!(fx, (kv.version, kv.mod_revision), (1, kv.create_revision), "version and revision of {name}");
    }
    same!(fx, fx.get_some("last").await.mod_revision, last, "the write after the dropped ones");
}
