//! Updates of one key in one process, with and without others.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use common::{builder, encrypted, faulty, memory, number, pod, with_number};
use kubestore_codec::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
use kubestore_conformance::{Call, Fault, FaultyKv, Operation, RecordingKv};
use kubestore_core::{
    Codec, CodecError, CreateOptions, ErrorKind, Found, Preconditions, Result, Storage, StorageError,
    StorageExt, UpdateOptions, Updated, Wanted,
};
use kubestore_kv::Kv;
use kubestore_store::{Store, UpdateQueue};

const KEY: &str = "/pods/ns1/a";

async fn with_pod(store: Store<Unstructured>) -> Store<Unstructured> {
    store.create(KEY, pod("a"), CreateOptions::default()).await.unwrap();
    store
}

/// Counts the object up by one.
async fn count_up(store: &Store<Unstructured>) -> Result<Unstructured> {
    store.update_with(KEY, |current: Option<Unstructured>, _| async move { Ok(next(current)) }).await
}

fn next(current: Option<Unstructured>) -> Updated<Unstructured> {
    let current = current.unwrap();
    let next = number(&current) + 1;
    Updated::new(with_number(current, next))
}

async fn counted(store: &Store<Unstructured>) -> i64 {
    number(&store.read(KEY).await.unwrap())
}

/// A backend that counts, and that lets others run before it answers.
fn recorded() -> (Arc<RecordingKv>, Arc<dyn Kv>) {
    let kv = Arc::new(RecordingKv::new(memory()));
    (Arc::clone(&kv), Arc::new(FaultyKv::new(kv, |_: &Call| yielding())))
}

fn yielding() -> Fault {
    Fault::none().before(tokio::task::yield_now())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_writers_of_one_key_need_one_transaction_an_update() {
    let (calls, kv) = recorded();
    let store = with_pod(builder(kv).transformer(encrypted()).build()).await;
    drop(calls.take());
    let writers = (0..16).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..20 {
                count_up(&store).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let (puts, gets) = (calls.count_of(Operation::OptimisticPut), calls.count_of(Operation::Get));
    assert_eq!(counted(&store).await, 320);
    // A machine that stands still for half a second makes somebody go on without a turn.
    assert!((320..=330).contains(&puts), "{puts} transactions");
    // Whoever comes while nobody waits has to read; with 16 writers that is the first, and the last few.
    assert!(gets <= 40, "{gets} reads");
}

#[tokio::test]
async fn stores_that_share_a_queue_hand_on_to_each_other() {
    let (calls, kv) = recorded();
    let queue = UpdateQueue::new();
    let one = with_pod(builder(Arc::clone(&kv)).update_queue(queue.clone()).build()).await;
    let other = builder(kv).update_queue(queue.clone()).build();
    drop(calls.take());
    let updates = tokio::join!(count_up(&one), count_up(&other), count_up(&one), count_up(&other));
    let versions = [updates.0, updates.1, updates.2, updates.3]
        .map(|updated| updated.unwrap().resource_version().to_owned());
    assert_eq!(versions, ["3", "4", "5", "6"], "in the order of asking");
    assert_eq!((calls.count_of(Operation::Get), calls.count_of(Operation::OptimisticPut)), (1, 4));
    assert_eq!(format!("{queue:?}"), "UpdateQueue { keys: 0 }");
}

#[tokio::test]
async fn writers_of_another_process_are_met_at_the_backend() {
    let kv = memory();
    let stranger = with_pod(builder(Arc::clone(&kv)).build()).await;
    let disturbances = Arc::new(AtomicI64::new(0));
    let script = {
        let disturbances = Arc::clone(&disturbances);
        move |call: &Call| {
            if call.operation != Operation::OptimisticPut || !call.number.is_multiple_of(3) {
                return Fault::none();
            }
            let (stranger, disturbances) = (stranger.clone(), Arc::clone(&disturbances));
            Fault::none().before(async move {
                disturbances.fetch_add(1, Ordering::SeqCst);
                count_up(&stranger).await.unwrap();
            })
        }
    };
    let store = builder(Arc::new(FaultyKv::new(kv, script))).build();
    let writers = (0..8).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..5 {
                count_up(&store).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let strangers = disturbances.load(Ordering::SeqCst);
    assert!(strangers > 10, "{strangers} writes came in between");
    assert_eq!(counted(&store).await, 40 + strangers);
}

#[tokio::test]
async fn dropped_updates_hold_nobody_up_and_lose_nothing() {
    let (_, kv) = recorded();
    let store = with_pod(builder(kv).build()).await;
    let finished = Arc::new(AtomicI64::new(0));
    let mut writers = Vec::new();
    for number in 0..60 {
        let (store, finished) = (store.clone(), Arc::clone(&finished));
        let update = async move {
            count_up(&store).await.unwrap();
            finished.fetch_add(1, Ordering::SeqCst);
        };
        let writer = tokio::spawn(update);
        // Some are dropped before they begin, some in line, some between their requests.
        for _ in 0..number % 7 {
            tokio::task::yield_now().await;
        }
        if number % 2 == 1 {
            writer.abort();
        }
        writers.push(writer);
    }
    let all = async {
        for writer in writers {
            drop(writer.await);
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all).await.expect("nobody is held up");
    let finished = finished.load(Ordering::SeqCst);
    assert!((30..60).contains(&finished), "{finished} finished");
    let counted = counted(&store).await;
    assert!((finished..60).contains(&counted), "{counted} counted, {finished} finished");
}

#[tokio::test]
async fn an_error_on_what_was_handed_on_stands_only_if_it_is_still_so() {
    for (disturbed, asked) in [(false, 1), (true, 2)] {
        let kv = memory();
        let stranger = with_pod(builder(Arc::clone(&kv)).build()).await;
        let reads = AtomicUsize::new(0);
        let script = move |call: &Call| {
            // The second read is the one that looks whether what was handed on is still so.
            if call.operation != Operation::Get || reads.fetch_add(1, Ordering::SeqCst) != 1 || !disturbed {
                return yielding();
            }
            let stranger = stranger.clone();
            Fault::none().before(async move { drop(count_up(&stranger).await.unwrap()) })
        };
        let store = builder(Arc::new(FaultyKv::new(kv, script))).build();
        let seen = AtomicUsize::new(0);
        let mut refuse_one = |current: Option<Unstructured>, _| {
            seen.fetch_add(1, Ordering::SeqCst);
            match current.as_ref().map(number) {
                Some(1) => Err(StorageError::other("one is not enough")),
                _ => Ok(next(current)),
            }
        };
        let refused = store.guaranteed_update(KEY, UpdateOptions::default(), &mut refuse_one, None);
        let (first, then) = tokio::join!(count_up(&store), refused);
        assert_eq!(number(&first.unwrap()), 1);
        match then {
            Ok(object) => assert!(disturbed && number(&object) == 3),
            Err(error) => assert!(!disturbed && error.message() == "one is not enough", "{error}"),
        }
        assert_eq!(seen.load(Ordering::SeqCst), asked, "asked again only about another object");
    }
}

#[tokio::test]
async fn preconditions_hold_for_what_was_handed_on() {
    let (calls, kv) = recorded();
    let store = with_pod(builder(kv).build()).await;
    drop(calls.take());
    let options = UpdateOptions::default().with_preconditions(Preconditions::resource_version("2"));
    let mut update = |current: Option<Unstructured>, _| Ok(next(current));
    let (first, refused) =
        tokio::join!(count_up(&store), store.guaranteed_update(KEY, options, &mut update, None));
    first.unwrap();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidObject);
    assert_eq!((calls.count_of(Operation::Get), calls.count_of(Operation::OptimisticPut)), (2, 1));
    assert_eq!(counted(&store).await, 1);
}

#[tokio::test]
async fn an_update_that_changes_nothing_of_what_was_handed_on_looks_once() {
    let (calls, kv) = recorded();
    let store = with_pod(builder(kv).build()).await;
    drop(calls.take());
    let nothing = |current: Option<Unstructured>, _| async move { Ok(Updated::new(current.unwrap())) };
    let (first, then) = tokio::join!(count_up(&store), store.update_with(KEY, nothing));
    assert_eq!((number(&first.unwrap()), number(&then.unwrap())), (1, 1));
    assert_eq!((calls.count_of(Operation::Get), calls.count_of(Operation::OptimisticPut)), (2, 1));
}

#[tokio::test]
async fn what_was_handed_on_counts_for_more_than_an_older_memory() {
    let (calls, kv) = recorded();
    let store = with_pod(builder(kv).build()).await;
    let remembered = store.read(KEY).await.unwrap();
    drop(calls.take());
    let mut update = |current: Option<Unstructured>, _| Ok(next(current));
    let update = store.guaranteed_update(KEY, UpdateOptions::default(), &mut update, Some(remembered));
    let (first, then) = tokio::join!(count_up(&store), update);
    assert_eq!((number(&first.unwrap()), number(&then.unwrap())), (1, 2));
    assert_eq!((calls.count_of(Operation::Get), calls.count_of(Operation::OptimisticPut)), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn an_update_function_may_update_its_own_object() {
    let store = with_pod(builder(memory()).build()).await;
    let (inner, once) = (store.clone(), Arc::new(AtomicUsize::new(0)));
    let update = |current: Option<Unstructured>, _| {
        let (inner, once) = (inner.clone(), Arc::clone(&once));
        async move {
            if once.fetch_add(1, Ordering::SeqCst) == 0 {
                count_up(&inner).await?;
            }
            Ok(next(current))
        }
    };
    let begun = tokio::time::Instant::now();
    assert_eq!(number(&store.update_with(KEY, update).await.unwrap()), 2);
    assert_eq!(once.load(Ordering::SeqCst), 2, "its own write was a conflict");
    assert_eq!(begun.elapsed().as_millis(), 500);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_hangs_on_one_update_does_not_hang_the_others() {
    let store = faulty(|call| match call.operation {
        Operation::OptimisticPut if call.number == 2 => Fault::none().before(std::future::pending()),
        _ => Fault::none(),
    });
    let store = with_pod(store.build()).await;
    let hanging = tokio::spawn({
        let store = store.clone();
        async move { count_up(&store).await }
    });
    tokio::task::yield_now().await;
    let begun = tokio::time::Instant::now();
    let (one, two) = tokio::join!(count_up(&store), count_up(&store));
    one.unwrap();
    two.unwrap();
    assert_eq!(begun.elapsed().as_millis(), 500);
    assert!(!hanging.is_finished());
    hanging.abort();
    assert!(hanging.await.is_err());
    count_up(&store).await.unwrap();
    assert_eq!(counted(&store).await, 3);
    assert_eq!(begun.elapsed().as_millis(), 500, "with the hanging one gone nobody waits");
}

/// Knows of a field that its objects have no place for.
#[derive(Debug)]
struct Careful(UnstructuredCodec);

impl Codec<Unstructured> for Careful {
    fn encode(&self, object: &Unstructured) -> Result<Bytes, CodecError> {
        self.0.encode(object)
    }

    fn decode(&self, data: Bytes) -> Result<Unstructured, CodecError> {
        self.0.decode(data)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        self.0.skim(data, wanted)
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        if stored.windows(6).any(|window| window == b"future") {
            return Err(CodecError::new("it has fields of a newer release"));
        }
        Ok(())
    }
}

#[tokio::test]
async fn what_the_codec_would_lose_is_not_overwritten() {
    let kv = memory();
    let newer = with_pod(builder(Arc::clone(&kv)).build()).await;
    let store =
        Store::builder(kv, Arc::new(Careful(UnstructuredCodec)), Arc::new(UnstructuredVersioner)).build();
    count_up(&store).await.unwrap();
    let future = |current: Option<Unstructured>, _| async move {
        let mut object = current.unwrap();
        object.set_pointer("/spec/future", 1).unwrap();
        Ok(Updated::new(object))
    };
    newer.update_with(KEY, future).await.unwrap();
    let error = count_up(&store).await.unwrap_err();
    assert_eq!(error.key(), Some("/registry/pods/ns1/a"));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "it has fields of a newer release");
    assert_eq!(counted(&store).await, 1, "it can be read");
    let nothing = |current: Option<Unstructured>, _| async move { Ok(Updated::new(current.unwrap())) };
    store.update_with(KEY, nothing).await.unwrap();
    store.remove(KEY).await.unwrap();
}
