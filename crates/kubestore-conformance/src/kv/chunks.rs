//! Cases: reading a range in parts.

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use kubestore_kv::{KeyValue, KvErrorKind, ListChunk, ListEnd, ListRequest, Revision};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// More keys than any backend puts into one part.
const MANY: usize = 1_500;

fn joined(chunks: Vec<ListChunk>) -> Vec<KeyValue> {
    chunks.into_iter().flat_map(|chunk| chunk.kvs).collect()
}

/// The end of `chunks`, which only the last may carry.
fn end_of(fx: &Fixture, chunks: &[ListChunk]) -> ListEnd {
    let ends: Vec<_> = chunks.iter().map(|chunk| chunk.end).collect();
    let Some((Some(end), before)) = ends.split_last() else {
        panic!("[{}] no end on the last of {} parts", fx.backend(), chunks.len())
    };
    holds!(fx, before.iter().all(Option::is_none), "an end on a part before the last: {ends:?}");
    *end
}

/// Parts add up to what the same list gives in one answer, for every kind of request.
pub async fn chunks_equal_the_list(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let past = fx.create("l/0", "old").await;
    let mut last = fx.update("l/0", "new", past).await;
    for name in ["l/1", "l/2", "l/3", "m"] {
        last = fx.create(name, name).await;
    }
    let all = || ListRequest::new(fx.key("l/"));
    let requests = [
        all(),
        all().keys_only(),
        all().limit(2),
        all().limit(4),
        all().limit(9),
        all().from_key(fx.key("l/1")).limit(2),
        all().from_key(fx.key("l/9")),
        all().at(past),
        all().at(last).limit(3),
        ListRequest::new(fx.key("none/")),
    ];
    for request in requests {
        let list = fx.list(request.clone()).await;
        let chunks = fx.chunks(request.clone()).await;
        let end = end_of(&fx, &chunks);
        same!(fx, joined(chunks), list.kvs, "parts of {request:?}");
        same!(fx, end.more, list.more, "more at the end of {request:?}");
        same!(fx, end.count.or(list.count), list.count.or(end.count), "count at the end of {request:?}");
        match request.revision {
            Some(revision) => same!(fx, end.revision, revision, "revision at the end of {request:?}"),
            None => {
                holds!(fx, end.revision >= last, "revision {} is below the last write {last}", end.revision)
            }
        }
    }
}

/// A long range comes whole, in order, with an end.
pub async fn chunks_of_a_long_range(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let names: Vec<String> = (0..MANY).map(|number| format!("l/{number:05}")).collect();
    fx.create_all(names.clone(), &Bytes::from(vec![b'x'; 100])).await;
    let chunks = fx.chunks(ListRequest::new(fx.key("l/"))).await;
    let end = end_of(&fx, &chunks);
    same!(fx, end.more, false, "more at the end");
    same!(fx, end.count.map_or(Ok(MANY), usize::try_from), Ok(MANY), "count at the end");
    let kvs = joined(chunks);
    holds!(fx, fx.names(&kvs) == names, "{} keys came, want {MANY}, in order", kvs.len());
    let limited = fx.chunks(ListRequest::new(fx.key("l/")).limit(1_200)).await;
    let end = end_of(&fx, &limited);
    same!(fx, (joined(limited).len(), end.more), (1_200, true), "keys and more with a limit of 1,200");
    same!(fx, end.count.map_or(Ok(MANY), usize::try_from), Ok(MANY), "count at the end with a limit");
}

/// All parts are of one revision, the one that the end tells, although writers go on between the parts.
pub async fn chunks_are_of_one_revision(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let names = (0..MANY).map(|number| format!("l/{number:05}"));
    fx.create_all(names, &Bytes::from_static(b"x")).await;
    let mut chunks = Vec::new();
    let mut stream = fx.kv().list_chunks(ListRequest::new(fx.key("l/")));
    while let Some(chunk) = stream.next().await {
        chunks.push(fx.ok(chunk, "a part"));
        let near_the_end = MANY - 2 * chunks.len();
        let (changed, gone) = (format!("l/{near_the_end:05}"), format!("l/{:05}", near_the_end - 1));
        fx.update(&changed, "changed", fx.get_some(&changed).await.mod_revision).await;
        fx.create(&format!("{changed}-new"), "x").await;
        fx.delete(&gone, fx.get_some(&gone).await.mod_revision).await;
    }
    let end = end_of(&fx, &chunks);
    let whole = fx.list(ListRequest::new(fx.key("l/")).at(end.revision)).await;
    let parts = joined(chunks);
    holds!(fx, parts == whole.kvs, "parts ({} keys) differ from the list at {}", parts.len(), end.revision);
}

/// A revision that cannot be read is the stream's one item.
pub async fn chunks_at_a_future_revision(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let head = fx.create("l/a", "x").await;
    let request = ListRequest::new(fx.key("l/")).at(Revision(head.0 + 1_000_000));
    let mut stream = fx.kv().list_chunks(request);
    let Some(first) = stream.next().await else { panic!("[{}] no item at all", fx.backend()) };
    fx.fails(first, KvErrorKind::FutureRevision, "first part");
    let after: Result<Vec<_>, _> = stream.try_collect().await;
    same!(fx, fx.ok(after, "the stream after its error").len(), 0, "parts after the error");
}
