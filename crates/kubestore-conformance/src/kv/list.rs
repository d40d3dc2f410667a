//! Cases: reading a range in one answer, and counting.

use bytes::Bytes;
use kubestore_kv::{KvErrorKind, ListRequest, Revision};

use super::fixture::{Fixture, holds, same};
use crate::Harness;

/// A list gives the keys in the order of their bytes, whatever the order they were written in.
pub async fn list_is_in_byte_order(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    for name in ["l/b", "l/a/x", "l/a", "l/Z", "l/a.b", "l/é", "l/10", "l/9"] {
        fx.create(name, name).await;
    }
    let answer = fx.list(ListRequest::new(fx.key("l/"))).await;
    let want = ["l/10", "l/9", "l/Z", "l/a", "l/a.b", "l/a/x", "l/b", "l/é"];
    same!(fx, fx.names(&answer.kvs), want, "keys of the list");
    let wrong = answer.kvs.iter().find(|kv| kv.value != fx.name(&kv.key).as_bytes());
    same!(fx, wrong, None, "a key with another key's value");
    same!(fx, (answer.more, answer.count.unwrap_or(8)), (false, 8), "more and count of a whole list");
}

/// The prefix is compared byte by byte: `/a/` has nothing of `/ab/`, `/a` has both, and the prefix itself counts.
pub async fn list_keeps_to_its_prefix(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    for name in ["a", "a/", "a/1", "a/2", "a0", "ab/1", "b"] {
        fx.create(name, name).await;
    }
    let cases: [(&str, &[&str]); 5] = [
        ("a/", &["a/", "a/1", "a/2"]),
        ("a", &["a", "a/", "a/1", "a/2", "a0", "ab/1"]),
        ("a/1", &["a/1"]),
        ("a/3", &[]),
        ("b", &["b"]),
    ];
    for (prefix, want) in cases {
        let answer = fx.list(ListRequest::new(fx.key(prefix))).await;
        same!(fx, fx.names(&answer.kvs), want, "keys under {prefix}");
        let count = fx.ok(fx.kv().count(fx.key(prefix)).await, format_args!("count of {prefix}"));
        same!(fx, usize::try_from(count), Ok(want.len()), "count under {prefix}");
    }
}

/// A prefix that ends in the highest byte still has an end.
pub async fn list_of_a_prefix_that_ends_in_ff(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let key = |suffix: &[u8]| Bytes::from([&fx.key("p"), suffix].concat());
    for suffix in [&b"\xfe"[..], b"\xff", b"\xff\0", b"\xff\xff", b"q"] {
        fx.put_done(kubestore_kv::PutRequest::create(key(suffix), "x")).await;
    }
    let answer = fx.list(ListRequest::new(key(b"\xff"))).await;
    let got: Vec<_> = answer.kvs.iter().map(|kv| kv.key.clone()).collect();
    same!(fx, got, [key(b"\xff"), key(b"\xff\0"), key(b"\xff\xff")], "keys under p\\xff");
}

/// The empty prefix is the whole key space.
pub async fn list_of_the_whole_key_space(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    fx.create("a", "x").await;
    fx.create("b", "x").await;
    let answer = fx.list(ListRequest::new("").keys_only()).await;
    let ours = answer.kvs.iter().filter(|kv| kv.key.starts_with(&fx.key("")));
    same!(fx, fx.names(ours), ["a", "b"], "this case's keys in the whole key space");
    let count = fx.ok(fx.kv().count(Bytes::new()).await, "count of everything");
    same!(fx, usize::try_from(count), Ok(answer.kvs.len()), "count of the whole key space");
}

/// The start is inclusive, need not exist, never leads out of the prefix, and leaves the end of the range to it.
pub async fn list_starts_inclusively(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    for name in ["k", "l/a", "l/b", "l/c", "m"] {
        fx.create(name, name).await;
    }
    let cases: [(&str, &[&str]); 7] = [
        ("k", &["l/a", "l/b", "l/c"]),
        ("l/", &["l/a", "l/b", "l/c"]),
        ("l/b", &["l/b", "l/c"]),
        ("l/b\0", &["l/c"]),
        ("l/bb", &["l/c"]),
        ("l/d", &[]),
        ("m", &[]),
    ];
    for (start, want) in cases {
        let answer = fx.list(ListRequest::new(fx.key("l/")).from_key(fx.key(start))).await;
        same!(fx, fx.names(&answer.kvs), want, "keys under l/ from {start:?}");
        let count = answer.count.map_or(Ok(want.len()), usize::try_from);
        same!(fx, count, Ok(want.len()), "count under l/ from {start:?}");
    }
}

/// The limit cuts, `more` says so, and the count is that of the range from the start, whatever the limit.
pub async fn list_with_a_limit(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    for name in ["l/a", "l/b", "l/c", "l/d"] {
        fx.create(name, name).await;
    }
    let cases: [(&str, u64, &[&str], bool, i64); 7] = [
        ("l/", 0, &["l/a", "l/b", "l/c", "l/d"], false, 4),
        ("l/", 1, &["l/a"], true, 4),
        ("l/", 3, &["l/a", "l/b", "l/c"], true, 4),
        ("l/", 4, &["l/a", "l/b", "l/c", "l/d"], false, 4),
        ("l/", 100, &["l/a", "l/b", "l/c", "l/d"], false, 4),
        ("l/b", 2, &["l/b", "l/c"], true, 3),
        ("l/c", 2, &["l/c", "l/d"], false, 2),
    ];
    for (start, limit, want, more, count) in cases {
        let request = ListRequest::new(fx.key("l/")).from_key(fx.key(start)).limit(limit);
        let answer = fx.list(request).await;
        same!(fx, fx.names(&answer.kvs), want, "keys from {start}, limit {limit}");
        same!(fx, answer.more, more, "more, from {start}, limit {limit}");
        same!(fx, answer.count.unwrap_or(count), count, "count, from {start}, limit {limit}");
    }
}

/// A key-only list leaves out the values and nothing else.
pub async fn list_without_values(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let created = fx.create("l/a", "one").await;
    let updated = fx.update("l/a", "two", created).await;
    fx.create("l/b", "three").await;
    let whole = fx.list(ListRequest::new(fx.key("l/"))).await.kvs;
    let mut want = whole.clone();
    want.iter_mut().for_each(|kv| kv.value = Bytes::new());
    let bare = fx.list(ListRequest::new(fx.key("l/")).keys_only()).await.kvs;
    same!(fx, bare, want, "key-only list");
    same!(fx, whole[0].value, Bytes::from("two"), "value of l/a in a whole list");
    same!(fx, (bare[0].mod_revision, bare[0].version), (updated, 2), "l/a in a key-only list");
}

/// A list at a past revision is the range as it stood then, with the newest head.
pub async fn list_at_a_past_revision(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let a = fx.create("l/a", "1").await;
    let b = fx.create("l/b", "2").await;
    let a2 = fx.update("l/a", "3", a).await;
    let gone = fx.delete("l/b", b).await;
    let c = fx.create("l/c", "4").await;
    let cases: [(Revision, &[(&str, &str)]); 5] = [
        (a, &[("l/a", "1")]),
        (b, &[("l/a", "1"), ("l/b", "2")]),
        (a2, &[("l/a", "3"), ("l/b", "2")]),
        (gone, &[("l/a", "3")]),
        (c, &[("l/a", "3"), ("l/c", "4")]),
    ];
    for (revision, want) in cases {
        let answer = fx.list(ListRequest::new(fx.key("l/")).at(revision)).await;
        let values = answer.kvs.iter().map(|kv| String::from_utf8_lossy(&kv.value).into_owned());
        let got: Vec<_> = fx.names(&answer.kvs).into_iter().zip(values).collect();
        let want: Vec<_> =
            want.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        same!(fx, got, want, "list at {revision}");
        same!(
            fx,
            answer.count.map_or(Ok(want.len()), usize::try_from),
            Ok(want.len()),
            "count at {revision}"
        );
        holds!(fx, answer.head >= c, "list at {revision}: head {} is below the last write {c}", answer.head);
    }
}

/// Pages at one revision add up to the list at that revision, although the range changes meanwhile.
pub async fn pages_at_one_revision_add_up(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let mut last = Revision(0);
    for number in 0..7 {
        last = fx.create(&format!("l/{number}"), "x").await;
    }
    let (mut names, mut start) = (Vec::new(), fx.key("l/"));
    for page in 0.. {
        let request = ListRequest::new(fx.key("l/")).from_key(start).at(last).limit(2);
        let answer = fx.list(request).await;
        names.extend(fx.names(&answer.kvs));
        same!(fx, answer.more, page < 3, "more on page {page}");
        let Some(end) = answer.kvs.last().filter(|_| answer.more) else { break };
        start = Bytes::from([&end.key[..], b"\0"].concat());
        fx.create(&format!("l/{page}-new"), "x").await;
        fx.delete(&format!("l/{}", 6 - page), fx.get_some(&format!("l/{}", 6 - page)).await.mod_revision)
            .await;
    }
    same!(fx, names, ["l/0", "l/1", "l/2", "l/3", "l/4", "l/5", "l/6"], "all pages at {last}");
}

/// A revision above the head is refused, one of zero or below is the newest.
pub async fn list_at_an_odd_revision(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let head = fx.create("l/a", "one").await;
    let future = Revision(head.0 + 1_000_000);
    for limit in [0, 38] {
        let result = fx.kv().list(ListRequest::new(fx.key("l/")).at(future).limit(limit)).await;
        fx.fails(result, KvErrorKind::FutureRevision, format_args!("list at {future}, limit {limit}"));
    }
    for revision in [0, -1] {
        let answer = fx.list(ListRequest::new(fx.key("l/")).at(Revision(revision))).await;
        same!(fx, fx.names(&answer.kvs), ["l/a"], "list at {revision}");
    }
}

/// With nobody else writing, the head of a list is the last write's revision.
pub async fn list_tells_the_head(harness: &dyn Harness) {
    let fx = Fixture::exclusive(harness).await;
    for number in 0..3 {
        let written = fx.create(&format!("l/{number}"), "x").await;
        same!(
            fx,
            fx.list(ListRequest::new(fx.key("l/"))).await.head,
            written,
            "head after the write at {written}"
        );
        let empty = fx.list(ListRequest::new(fx.key("none/"))).await;
        same!(fx, empty.head, written, "head of an empty list after the write at {written}");
    }
}

/// A count follows creates and deletes.
pub async fn count_follows_writes(harness: &dyn Harness) {
    let fx = Fixture::shared(harness).await;
    let count = async || fx.ok(fx.kv().count(fx.key("l/")).await, "count");
    same!(fx, count().await, 0, "count of nothing");
    let a = fx.create("l/a", "x").await;
    fx.create("l/b", "x").await;
    same!(fx, count().await, 2, "count after two creates");
    let a = fx.update("l/a", "y", a).await;
    same!(fx, count().await, 2, "count after an update");
    fx.delete("l/a", a).await;
    same!(fx, count().await, 1, "count after a delete");
}
