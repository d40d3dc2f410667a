//! Lists that are fetched and decoded at the same time, and what lists and watches take of memory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
/// A backend whose lists in parts are made something else of.
mod liar;

use std::{
    error::Error as _,
    fmt,
    ops::Range,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use common::{builder, encrypted, labelled_pod, memory, names, pod};
use futures_util::{StreamExt as _, stream};
use kubestore_codec::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
use kubestore_conformance::{Call, Fault, FaultyKv, Operation, RecordingKv};
use kubestore_core::{
    Codec, CodecError, CreateOptions, ErrorKind, Found, ListOptions, ListPart, Predicate,
    ResourceVersionMatch, Storage, Wanted, WatchOptions,
};
use kubestore_kv::{
    KeyValue, Kv, KvErrorKind, KvEvent, ListChunk, ListRequest, ListResponse, Revision, WatchItem,
};
use kubestore_store::Store;
use liar::{Chunks, Liar};

/// More than one part, whatever the backend.
const MANY: usize = 3_000;

async fn filled(kv: &Arc<dyn Kv>) {
    let store = builder(Arc::clone(kv)).build();
    for number in 0..MANY {
        let name = format!("p{number:04}");
        let app = if number % 100 == 0 { "db" } else { "web" };
        let key = format!("/pods/ns1/{name}");
        store.create(&key, labelled_pod(&name, app), CreateOptions::default()).await.unwrap();
    }
}

fn honest(_: &ListRequest) -> ListResponse {
    unreachable!("lists come in parts")
}

/// Does something before it decodes.
struct Hooked<F>(F);

impl<F> fmt::Debug for Hooked<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooked")
    }
}

impl<F: Fn(&Bytes) + Send + Sync + 'static> Codec<Unstructured> for Hooked<F> {
    fn encode(&self, object: &Unstructured) -> Result<Bytes, CodecError> {
        UnstructuredCodec.encode(object)
    }

    fn decode(&self, data: Bytes) -> Result<Unstructured, CodecError> {
        self.0(&data);
        UnstructuredCodec.decode(data)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        UnstructuredCodec.skim(data, wanted)
    }
}

fn hooked(kv: Arc<dyn Kv>, hook: impl Fn(&Bytes) + Send + Sync + 'static) -> Store<Unstructured> {
    Store::builder(kv, Arc::new(Hooked(hook)), Arc::new(UnstructuredVersioner))
        .group_resource("pods".into())
        .build()
}

/// How often something happened, to be waited for by threads.
#[derive(Default)]
struct Count(Mutex<usize>, Condvar);

impl Count {
    fn up(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_all();
    }

    fn get(&self) -> usize {
        *self.0.lock().unwrap()
    }

    /// Whether it came to `count` within ten seconds.
    fn reaches(&self, count: usize) -> bool {
        let guard = self.0.lock().unwrap();
        let waited = self.1.wait_timeout_while(guard, Duration::from_secs(10), |now| *now < count);
        !waited.unwrap().1.timed_out()
    }
}

/// Counts how many parts are asked for.
fn counting(asked: &Arc<Count>) -> impl Fn(Chunks) -> Chunks + Send + Sync + 'static {
    let asked = Arc::clone(asked);
    move |chunks| {
        let asked = Arc::clone(&asked);
        let counted = stream::unfold((chunks, asked), |(mut chunks, asked)| async move {
            asked.up();
            Some((chunks.next().await?, (chunks, asked)))
        });
        Box::pin(counted)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_next_part_is_fetched_while_this_one_is_decoded() {
    let kv = memory();
    filled(&kv).await;
    let (asked, in_vain) = (Arc::new(Count::default()), Arc::new(AtomicUsize::new(0)));
    let hook = {
        let (asked, in_vain) = (Arc::clone(&asked), Arc::clone(&in_vain));
        move |_: &Bytes| {
            // Decoding does not go on before somebody asks for the second part.
            if in_vain.load(Ordering::SeqCst) == 0 && !asked.reaches(2) {
                in_vain.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    let store = hooked(Arc::new(Liar::new(kv, honest).with_chunks(counting(&asked))), hook);
    let list = store.get_list("/pods", ListOptions::recursive()).await.unwrap();
    assert_eq!((list.items.len(), in_vain.load(Ordering::SeqCst)), (MANY, 0));
    assert!(names(&list.items).is_sorted());
}

#[tokio::test]
async fn a_list_in_parts_is_fetched_no_further_than_one_part_ahead() {
    let kv = memory();
    filled(&kv).await;
    let asked = Arc::new(Count::default());
    let store = builder(Arc::new(Liar::new(kv, honest).with_chunks(counting(&asked)))).build();
    let mut parts = store.list_stream("/pods", ListOptions::recursive());
    let mut seen = 0;
    while let Some(part) = parts.next().await {
        // Whatever could be done ahead is done by then.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        match part.unwrap() {
            ListPart::Items(items) => {
                seen += items.len();
                assert!(asked.get() <= seen.div_ceil(items.len()) + 1, "{} asked, {seen} seen", asked.get());
            }
            ListPart::End { resource_version, .. } => assert_eq!(resource_version, MANY as u64 + 1),
            _ => unreachable!("no other parts"),
        }
    }
    assert_eq!(seen, MANY);
}

#[tokio::test]
async fn a_whole_list_is_one_request() {
    let inner = memory();
    filled(&inner).await;
    let kv = Arc::new(RecordingKv::new(inner));
    let store = builder(Arc::clone(&kv) as Arc<_>).build();
    let list = store.get_list("/pods", ListOptions::recursive()).await.unwrap();
    assert_eq!((list.items.len(), list.resource_version), (MANY, MANY as u64 + 1));
    assert_eq!((list.continue_token, list.remaining_item_count), (None, None));
    let exact = ListOptions::recursive().with_resource_version("1001", ResourceVersionMatch::Exact);
    let list = store.get_list("/pods", exact).await.unwrap();
    assert_eq!((list.items.len(), list.resource_version), (1_000, 1_001));
    assert_eq!((kv.count_of(Operation::ListChunks), kv.count_of(Operation::List)), (2, 0));
}

#[tokio::test]
async fn a_list_that_a_compaction_overtook_begins_anew() {
    let inner = memory();
    filled(&inner).await;
    let kv = Arc::new(RecordingKv::new(inner));
    let overtaken = |call: &Call| match call.operation {
        Operation::ListChunks => Fault::none().cut_after(1, KvErrorKind::Compacted),
        _ => Fault::none(),
    };
    let store = builder(Arc::new(FaultyKv::new(Arc::clone(&kv) as Arc<_>, overtaken))).build();
    let list = store.get_list("/pods", ListOptions::recursive()).await.unwrap();
    let listed = names(&list.items);
    assert_eq!((listed.len(), listed[0], listed[MANY - 1]), (MANY, "p0000", "p2999"));
    assert_eq!(list.resource_version, MANY as u64 + 1);
    assert_eq!((kv.count_of(Operation::ListChunks), kv.count_of(Operation::List)), (1, 1));
    let exact = ListOptions::recursive().with_resource_version("3001", ResourceVersionMatch::Exact);
    let error = store.get_list("/pods", exact).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Expired, "who asked for a state gets no other");
    // What was handed out in parts cannot be taken back.
    let mut parts = store.list_stream("/pods", ListOptions::recursive());
    assert!(matches!(parts.next().await, Some(Ok(ListPart::Items(_)))));
    assert_eq!(parts.next().await.unwrap().unwrap_err().kind(), ErrorKind::Expired);
    assert!(parts.next().await.is_none());
}

#[tokio::test]
async fn an_answer_that_ends_early_is_an_error() {
    let kv = memory();
    filled(&kv).await;
    let cut = |chunks: Chunks| -> Chunks { Box::pin(chunks.take(1)) };
    let store = builder(Arc::new(Liar::new(kv, honest).with_chunks(cut))).build();
    let error = store.get_list("/pods", ListOptions::recursive()).await.unwrap_err();
    let cause = error.source().unwrap().to_string();
    assert_eq!(cause, "list_chunks: the backend's answer ended before the list did");
}

#[tokio::test]
async fn pages_are_fetched_ahead_only_where_they_will_be_wanted() {
    let inner = memory();
    filled(&inner).await;
    let kv = Arc::new(RecordingKv::new(inner));
    let store = builder(Arc::clone(&kv) as Arc<_>).build();
    let limits = |calls: &RecordingKv| -> Vec<_> {
        calls.calls_of(Operation::List).iter().map(|call| call.call.limit.unwrap()).collect()
    };
    let options = |selector: &str, limit| {
        let predicate = Predicate::new(selector.parse().unwrap(), Default::default());
        ListOptions::recursive().with_limit(limit).with_predicate(predicate)
    };
    // One in a hundred is `db`.
    for (selector, limit, found, requests) in [
        ("app=web", 50, 50, vec![50, 100]),
        ("app=web", 500, 500, vec![500, 1_000]),
        ("app=db", 500, 30, vec![500, 1_000, 2_000]),
        ("app=db", 20, 20, vec![20, 40, 80, 160, 320, 640, 1_280]),
        ("app=none", 100, 0, vec![100, 200, 400, 800, 1_600]),
    ] {
        drop(kv.take());
        let list = store.get_list("/pods", options(selector, limit)).await.unwrap();
        assert_eq!(list.items.len(), found, "{selector} {limit}");
        assert_eq!(limits(&kv), requests, "{selector} {limit}");
    }
}

#[tokio::test]
async fn a_backlog_that_comes_at_once_is_decoded_a_few_batches_at_a_time() {
    let created = |revision: i64| {
        let name = format!("p{revision:05}");
        let data = UnstructuredCodec.encode(&pod(&name)).unwrap();
        KvEvent::put(KeyValue::new(format!("/registry/pods/ns1/{name}"), data, Revision(revision)), None)
    };
    let last = 5_000;
    let backlog = move || -> kubestore_kv::KvWatch {
        let events = (1..=last).map(created).collect();
        let item = WatchItem::Events { events, through: Revision(last) };
        Box::pin(stream::iter([Ok(item)]).chain(stream::pending()))
    };
    let decoded = Arc::new(AtomicUsize::new(0));
    let hook = {
        let decoded = Arc::clone(&decoded);
        move |_: &Bytes| {
            decoded.fetch_add(1, Ordering::SeqCst);
        }
    };
    let store = hooked(Arc::new(Liar::new(memory(), honest).with_watches(backlog)), hook);
    let options = WatchOptions::recursive().with_resource_version("1");
    let mut events = store.watch("/pods", options).await.unwrap();
    let cores = std::thread::available_parallelism().unwrap().get();
    for taken in 1..=usize::try_from(last).unwrap() {
        let event = events.next().await.unwrap().unwrap();
        assert_eq!(event.object().map(Unstructured::name), Some(&*format!("p{taken:05}")));
        if taken.is_multiple_of(500) {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        }
        let ahead = decoded.load(Ordering::SeqCst) - taken;
        assert!(ahead <= (cores + 3) * 64, "{ahead} events were decoded ahead");
    }
}

/// Where the values are that the backend gives.
#[derive(Clone, Default)]
struct Places(Arc<Mutex<Vec<Range<usize>>>>);

impl Places {
    fn of(data: &[u8]) -> Range<usize> {
        let start = data.as_ptr().addr();
        start..start + data.len()
    }

    /// The part with each value in a buffer of its own, as it comes from a connection.
    fn give(&self, mut part: ListChunk) -> ListChunk {
        for kv in &mut part.kvs {
            kv.value = Bytes::from(kv.value.to_vec());
            self.0.lock().unwrap().push(Self::of(&kv.value));
        }
        part
    }

    fn hold(&self, data: &Bytes) -> bool {
        let data = Self::of(data);
        self.0.lock().unwrap().iter().any(|given| given.start <= data.start && data.end <= given.end)
    }
}

#[tokio::test]
async fn the_codec_gets_the_bytes_where_the_backend_left_them() {
    for transformer in [None, Some(encrypted())] {
        let kv = memory();
        let (places, decoded) = (Places::default(), Arc::new(AtomicUsize::new(0)));
        let give = {
            let places = places.clone();
            move |chunks: Chunks| -> Chunks {
                let places = places.clone();
                Box::pin(chunks.map(move |part| part.map(|part| places.give(part))))
            }
        };
        let hook = {
            let (places, decoded) = (places.clone(), Arc::clone(&decoded));
            move |data: &Bytes| {
                assert!(places.hold(data), "a value was copied");
                decoded.fetch_add(1, Ordering::SeqCst);
            }
        };
        let kv: Arc<dyn Kv> = Arc::new(Liar::new(kv, honest).with_chunks(give));
        let builder = Store::builder(kv, Arc::new(Hooked(hook)), Arc::new(UnstructuredVersioner));
        let store = match transformer {
            Some(transformer) => builder.transformer(transformer).build(),
            None => builder.build(),
        };
        for number in 0..100 {
            let name = format!("p{number:02}");
            store.create(&format!("/pods/ns1/{name}"), pod(&name), CreateOptions::default()).await.unwrap();
        }
        let list = store.get_list("/pods", ListOptions::recursive()).await.unwrap();
        assert_eq!((list.items.len(), decoded.load(Ordering::SeqCst)), (100, 100));
        assert_eq!(list.resource_version, Revision(101).0.unsigned_abs());
    }
}
