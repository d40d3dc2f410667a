//! One client: what it does next depends on its dice and on what it was told.

use std::{sync::Arc, time::Instant};

use futures_util::TryStreamExt as _;
use kubestore_conformance::{history::HistoryKv, storage::Pod};
use kubestore_kv::{
    DeleteRequest, GetRequest, KeyValue, Kv as _, KvErrorKind, ListRequest, PutRequest, Revision,
    WriteOutcome,
};

use super::{
    KEPT, PREFIX, Shared, Tally,
    counter::{self, Counters},
};
use kubestore_store::Store;

use crate::dice::Dice;

/// Works until it is stopped.
pub(super) async fn work(kv: HistoryKv, shared: Shared, counters: Counters, dice: Dice) -> Tally {
    let known = vec![Known::Nothing; shared.workload.keys];
    let (steps, pause, stop) = (shared.workload.steps, shared.workload.pause, shared.stop);
    let kv = Arc::new(kv);
    let store = counter::store(Arc::clone(&kv));
    let mut client =
        Client { kv, store, counters, dice, known, head: Revision(1), written: 0, tally: Tally::default() };
    for _ in 0..steps {
        if *stop.borrow() {
            break;
        }
        client.step().await;
        if pause.is_zero() {
            // A backend that answers at once would let nobody else run.
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(pause.mul_f64(client.dice.below(1_000) as f64 / 1_000.0)).await;
        }
    }
    client.tally
}

/// Forgets what is old, from time to time.
pub(super) async fn compact(kv: HistoryKv, mut shared: Shared) -> Tally {
    let mut tally = Tally::default();
    let Some(interval) = shared.workload.compact_every else { return tally };
    while tokio::time::timeout(interval, shared.stop.wait_for(|stop| *stop)).await.is_err() {
        let begun = Instant::now();
        let head = tally.note(begun, kv.get(GetRequest::new(PREFIX)).await).map(|answer| answer.head);
        if let Some(old) = head.map(|head| head.0 - KEPT).filter(|old| *old > 1) {
            let result = kv.compact(Revision(old)).await;
            // Of which nothing need be known: it has been done, or will be.
            let done = result.or_else(|error| match error.kind() {
                KvErrorKind::Compacted => Ok(()),
                _ => Err(error),
            });
            tally.note(begun, done);
        }
    }
    tally
}

/// What a client thinks of a key.
#[derive(Clone, Copy)]
enum Known {
    Nothing,
    Absent,
    At(Revision),
}

struct Client {
    kv: Arc<HistoryKv>,
    store: Store<Pod>,
    counters: Counters,
    dice: Dice,
    known: Vec<Known>,
    head: Revision,
    written: usize,
    tally: Tally,
}

impl Client {
    async fn step(&mut self) {
        let number = self.dice.below(self.known.len());
        match self.dice.below(100) {
            0..15 => self.get(number, None).await,
            15..70 => self.write(number).await,
            70..80 => self.count().await,
            80..88 => self.list().await,
            88..92 => self.list_in_parts().await,
            92..96 => {
                let past = self.past();
                self.get(number, Some(past)).await;
            }
            _ => self.list_the_past().await,
        }
    }

    /// Creates what is absent, updates or deletes what is there, and sometimes the other way round.
    async fn write(&mut self, number: usize) {
        let key = key(number);
        match self.known[number] {
            Known::Nothing => self.get(number, None).await,
            Known::Absent => {
                let request = PutRequest::create(key, self.value());
                self.put(number, request).await;
            }
            Known::At(revision) if self.dice.chance(25) => self.delete(number, revision).await,
            Known::At(revision) => {
                let expected = if self.dice.chance(3) { Revision(0) } else { revision };
                let request = PutRequest::update(key, self.value(), expected);
                self.put(number, request).await;
            }
        }
    }

    async fn put(&mut self, number: usize, request: PutRequest) {
        let begun = Instant::now();
        let result = self.kv.optimistic_put(request).await;
        self.known[number] = match self.tally.note(begun, result) {
            Some(WriteOutcome::Done { revision }) => Known::At(revision),
            // A create is not told what is there instead.
            Some(WriteOutcome::Conflict { current: Some(kv), .. }) => Known::At(kv.mod_revision),
            _ => Known::Nothing,
        };
    }

    async fn delete(&mut self, number: usize, revision: Revision) {
        let begun = Instant::now();
        let result = self.kv.optimistic_delete(DeleteRequest::new(key(number), revision)).await;
        self.known[number] = match self.tally.note(begun, result) {
            Some(WriteOutcome::Done { .. }) => Known::Absent,
            Some(WriteOutcome::Conflict { current, .. }) => known(current.as_ref()),
            _ => Known::Nothing,
        };
    }

    async fn get(&mut self, number: usize, at: Option<Revision>) {
        let begun = Instant::now();
        let mut request = GetRequest::new(key(number));
        request.revision = at;
        let result = self.kv.get(request).await;
        if let Some(answer) = self.tally.note(begun, result) {
            self.head = answer.head;
            if at.is_none() {
                self.known[number] = known(answer.kv.as_ref());
            }
        }
    }

    async fn count(&mut self) {
        let number = self.dice.below(self.counters.len());
        let begun = Instant::now();
        let result = self.counters.step(&self.kv, &self.store, number).await;
        self.tally.note(begun, result);
    }

    async fn list(&mut self) {
        let limit = if self.dice.chance(30) { 1 + self.dice.below(4) } else { 0 };
        let mut request = ListRequest::new(PREFIX).limit(limit as u64);
        if self.dice.chance(30) {
            request = request.from_key(key(self.dice.below(self.known.len())));
        }
        let begun = Instant::now();
        let result = self.kv.list(request).await;
        if let Some(answer) = self.tally.note(begun, result) {
            self.head = answer.head;
        }
    }

    async fn list_in_parts(&mut self) {
        let begun = Instant::now();
        let result: Result<Vec<_>, _> = self.kv.list_chunks(ListRequest::new(PREFIX)).try_collect().await;
        self.tally.note(begun, result);
    }

    async fn list_the_past(&mut self) {
        let request = ListRequest::new(PREFIX).at(self.past());
        let begun = Instant::now();
        let result = self.kv.list(request).await;
        self.tally.note(begun, result);
    }

    /// A revision of which it knows that it was.
    fn past(&mut self) -> Revision {
        let back = i64::try_from(self.dice.below(40)).unwrap_or_default();
        Revision((self.head.0 - back).max(1))
    }

    /// One that nobody else writes, nor this client again.
    fn value(&mut self) -> String {
        self.written += 1;
        format!("{}-{}", self.kv.number(), self.written)
    }
}

fn known(kv: Option<&KeyValue>) -> Known {
    kv.map_or(Known::Absent, |kv| Known::At(kv.mod_revision))
}

fn key(number: usize) -> String {
    format!("{PREFIX}key-{number:03}")
}
