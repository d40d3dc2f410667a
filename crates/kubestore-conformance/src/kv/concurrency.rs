//! Cases: many clients at once, each in a task of its own.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use kubestore_kv::{GetRequest, KeyValue, ListRequest, ListResponse, PutRequest, Revision, WriteOutcome};

use super::fixture::{Fixture, holds, in_parallel, same};
use crate::Harness;

async fn start(harness: &dyn Harness) -> Arc<Fixture> {
    Arc::new(Fixture::shared(harness).await)
}

/// Of many creates of one key exactly one happens.
pub async fn one_of_many_creates_wins(harness: &dyn Harness) {
    let fx = start(harness).await;
    for round in 0..10 {
        let name = format!("k{round}");
        let creates = (0..16).map(|client| {
            let (fx, key) = (Arc::clone(&fx), fx.key(&name));
            async move { (client, fx.put(PutRequest::create(key, client.to_string())).await) }
        });
        let done = in_parallel(creates).await.into_iter().filter_map(|(client, outcome)| match outcome {
            WriteOutcome::Done { revision } => Some((client.to_string(), revision)),
            _ => None,
        });
        let winners: Vec<_> = done.collect();
        let kv = fx.get_some(&name).await;
        let kept = (String::from_utf8_lossy(&kv.value).into_owned(), kv.mod_revision);
        same!(fx, winners, [kept], "winners of the creates of {name}, against what is kept");
    }
}

const CLIENTS: u64 = 8;
const ROUNDS: u64 = 20;

/// Counting up by read and conditional put loses no count, and the answer to a lost race is good enough to try again
/// with.
pub async fn concurrent_updates_lose_nothing(harness: &dyn Harness) {
    let fx = start(harness).await;
    fx.create("counter", "0").await;
    let clients = (0..CLIENTS).map(|_| {
        let fx = Arc::clone(&fx);
        async move {
            for _ in 0..ROUNDS {
                count_up(&fx, fx.get_some("counter").await).await;
            }
        }
    });
    in_parallel(clients).await;
    let kv = fx.get_some("counter").await;
    let (count, version) = (CLIENTS * ROUNDS, i64::try_from(CLIENTS * ROUNDS + 1));
    same!(fx, (&*kv.value, Ok(kv.version)), (count.to_string().as_bytes(), version), "counter");
}

async fn count_up(fx: &Fixture, mut kv: KeyValue) {
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
}

/// A read sees every write that was acknowledged before it began, on every way of reading.
pub async fn reads_see_acknowledged_writes(harness: &dyn Harness) {
    let fx = start(harness).await;
    let clients = (0..16).map(|client| {
        let fx = Arc::clone(&fx);
        async move {
            let name = format!("l{client}/k");
            let mut revision = fx.create(&name, "0").await;
            for number in 1..15 {
                revision = fx.update(&name, number.to_string(), revision).await;
                let answer = fx.ok(fx.kv().get(GetRequest::new(fx.key(&name))).await, "get");
                let found = answer.kv.map(|kv| kv.mod_revision);
                same!(fx, found, Some(revision), "get of {name} after its write");
                holds!(fx, answer.head >= revision, "head {} after the write at {revision}", answer.head);
                let listed = fx.list(ListRequest::new(fx.key(&format!("l{client}/")))).await;
                same!(fx, listed.kvs[0].mod_revision, revision, "list of {name} after its write");
            }
        }
    });
    in_parallel(clients).await;
}

const WRITERS: usize = 16;
const WRITES: usize = 25;

/// A list at head R holds every write acknowledged at or below R, and the same list asked for at R again is equal.
pub async fn list_at_its_head_is_complete(harness: &dyn Harness) {
    let fx = start(harness).await;
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let writers = (0..WRITERS).map(|writer| {
        let (fx, acknowledged) = (Arc::clone(&fx), Arc::clone(&acknowledged));
        async move {
            for number in 0..WRITES {
                let name = format!("l/{writer}-{number}");
                let revision = fx.create(&name, "x").await;
                acknowledged.lock().unwrap_or_else(PoisonError::into_inner).push((revision, name));
            }
        }
    });
    let done = Arc::new(AtomicBool::new(false));
    let listers = (0..4).map(|_| lists_until(Arc::clone(&fx), Arc::clone(&done)));
    let writers = async {
        in_parallel(writers).await;
        done.store(true, Ordering::Release);
    };
    let ((), lists) = tokio::join!(writers, in_parallel(listers));
    let acknowledged = std::mem::take(&mut *acknowledged.lock().unwrap_or_else(PoisonError::into_inner));
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

/// Lists again and again, and once more when the writers are done. One list is kept for each state seen.
async fn lists_until(fx: Arc<Fixture>, done: Arc<AtomicBool>) -> Vec<ListResponse> {
    let mut lists: Vec<ListResponse> = Vec::new();
    loop {
        let last_round = done.load(Ordering::Acquire);
        let list = fx.list(ListRequest::new(fx.key("l/")).keys_only()).await;
        if lists.last().is_none_or(|last| last.head != list.head || last.kvs != list.kvs) {
            lists.push(list);
        }
        if last_round {
            return lists;
        }
        // A backend that answers at once would never let the writers run.
        tokio::task::yield_now().await;
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
