//! Long lists, which etcd from 3.7 on sends as a stream and earlier ones as pages; what comes out is the same.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::{collections::BTreeSet, num::NonZeroU64, time::Duration};

use common::{create, done, etcd, put};
use futures_util::{StreamExt, TryStreamExt, future::join_all};
use kubestore_etcd::{
    EtcdKv, EtcdKvBuilder,
    testing::{EtcdProcess, EtcdSetup, Proxy},
};
use kubestore_kv::{DeleteRequest, Kv, ListChunk, ListRequest, Maintenance, Revision};

const KEYS: usize = 3000;
const COUNT: i64 = 3000;

async fn filled(kv: &EtcdKv) -> Revision {
    join_all((0..20).map(|writer| async move {
        for n in 0..KEYS / 20 {
            create(kv, &format!("/p/{:05}", writer * KEYS / 20 + n), vec![b'x'; 1000]).await;
        }
    }))
    .await;
    create(kv, "/q/other", "").await
}

fn small_pages(etcd: &EtcdProcess) -> EtcdKvBuilder {
    etcd.client().page_size(NonZeroU64::new(10).unwrap())
}

/// How often the server was asked for a stream; `None` if it has none.
async fn streams(etcd: &EtcdProcess) -> Option<f64> {
    let kv = etcd.client().connect().await.unwrap();
    let version = kv.members().await.unwrap()[0].version.clone();
    if version.starts_with("3.5.") || version.starts_with("3.6.") {
        return None;
    }
    let name = "grpc_server_started_total{grpc_method=\"RangeStream\",grpc_service=\"etcdserverpb.KV\",\
                grpc_type=\"server_stream\"}";
    Some(common::metric(etcd, name).await)
}

fn keys(parts: &[ListChunk]) -> Vec<&str> {
    parts.iter().flat_map(|part| &part.kvs).map(|kv| std::str::from_utf8(&kv.key).unwrap()).collect()
}

#[tokio::test]
async fn a_long_list_is_of_one_revision_whatever_is_written_meanwhile() {
    let (etcd, kv) = etcd().await;
    let head = filled(&kv).await;
    let reading = small_pages(&etcd).connect().await.unwrap();
    let before = streams(&etcd).await;
    let mut parts = reading.list_chunks(ListRequest::new("/p/"));
    let mut all = vec![parts.try_next().await.unwrap().unwrap()];
    // What is deleted, replaced and created from now on does not show.
    let old = kv.get(kubestore_kv::GetRequest::new("/p/02999")).await.unwrap().kv.unwrap();
    done(kv.optimistic_delete(DeleteRequest::new("/p/02999", old.mod_revision)).await.unwrap());
    put(&kv, "/p/02998", "new").await;
    create(&kv, "/p/02998x", "").await;
    while let Some(part) = parts.try_next().await.unwrap() {
        assert!(all.last().unwrap().end.is_none(), "more after the end");
        all.push(part);
    }
    let end = all.last().unwrap().end.unwrap();
    assert_eq!((end.revision, end.more, end.count), (head, false, Some(COUNT)));
    let wanted: Vec<_> = (0..KEYS).map(|n| format!("/p/{n:05}")).collect();
    assert_eq!(keys(&all), wanted);
    assert!(all.iter().flat_map(|part| &part.kvs).all(|kv| kv.value.len() == 1000));
    assert_eq!(streams(&etcd).await, before.map(|before| before + 1.0));
}

#[tokio::test]
async fn limits_pinned_revisions_and_bare_keys_hold_in_every_part() {
    let (etcd, kv) = etcd().await;
    let head = filled(&kv).await;
    put(&kv, "/p/00000", "later").await;
    let reading = small_pages(&etcd).connect().await.unwrap();
    for (limit, more) in [(10, true), (11, true), (1000, true), (KEYS, false), (KEYS + 1, false)] {
        let request = ListRequest::new("/p/").at(head).limit(limit as u64).keys_only();
        let parts: Vec<_> = reading.list_chunks(request).try_collect().await.unwrap();
        let end = parts.last().unwrap().end.unwrap();
        assert_eq!((end.revision, end.more, end.count), (head, more, Some(COUNT)), "{limit}");
        let keys = keys(&parts);
        assert_eq!(keys.len(), limit.min(KEYS));
        assert!(keys.is_sorted_by(|a, b| a < b));
        assert!(parts.iter().flat_map(|part| &part.kvs).all(|kv| kv.value.is_empty()));
    }
    let request = ListRequest::new("/p/").from_key("/p/02000").at(head);
    let parts: Vec<_> = reading.list_chunks(request).try_collect().await.unwrap();
    assert_eq!(keys(&parts).len(), 1000);
    assert_eq!(parts.last().unwrap().end.unwrap().count, Some(1000));
}

#[tokio::test]
async fn a_list_whose_connection_breaks_in_the_middle_goes_on_after_the_last_key() {
    let (etcd, kv) = etcd().await;
    let head = filled(&kv).await;
    let proxy = Proxy::to(etcd.address()).await.unwrap();
    let reading = EtcdKv::builder()
        .endpoints([proxy.endpoint()])
        .page_size(NonZeroU64::new(10).unwrap())
        .connect()
        .await
        .unwrap();
    let mut parts = reading.list_chunks(ListRequest::new("/p/"));
    let mut all = Vec::new();
    while let Some(part) = parts.try_next().await.unwrap() {
        all.push(part);
        if all.len() % 3 == 0 {
            proxy.cut();
            proxy.mend();
            // For the break to be noticed.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    assert_eq!(keys(&all).len(), KEYS);
    assert_eq!(keys(&all).into_iter().collect::<BTreeSet<_>>().len(), KEYS);
    assert_eq!(all.last().unwrap().end.unwrap().revision, head);
}

#[tokio::test]
async fn a_history_compacted_in_the_middle_of_a_list_is_an_error_and_never_an_end() {
    let (etcd, kv) = etcd().await;
    filled(&kv).await;
    let reading = small_pages(&etcd).connect().await.unwrap();
    let mut parts = reading.list_chunks(ListRequest::new("/p/"));
    let mut seen = parts.try_next().await.unwrap().unwrap().kvs.len();
    let head = put(&kv, "/p/00000", "").await;
    kv.compact(head).await.unwrap();
    let error = loop {
        match parts.next().await.expect("an end without its last part") {
            Ok(part) => {
                seen += part.kvs.len();
                assert!(part.end.is_none() || seen == KEYS, "an end after {seen}");
                if part.end.is_some() {
                    return;
                }
            }
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), kubestore_kv::KvErrorKind::Compacted, "{error:?}");
}

#[tokio::test]
async fn many_lists_that_nobody_reads_do_not_hold_up_calls_watches_or_each_other() {
    let etcd = EtcdSetup::new().start().await.unwrap();
    let kv = small_pages(&etcd).connect().await.unwrap();
    for n in 0..60 {
        create(&kv, &format!("/p/{n:05}"), vec![b'x'; 500_000]).await;
    }
    let mut lists = Vec::new();
    for _ in 0..8 {
        let mut list = kv.list_chunks(ListRequest::new("/p/"));
        for _ in 0..2 {
            list.try_next().await.unwrap().unwrap();
        }
        lists.push(list);
    }
    let begin = tokio::time::Instant::now();
    let written = create(&kv, "/p/last", "").await;
    assert_eq!(kv.list(ListRequest::new("/p/")).await.unwrap().head, written);
    // The last one first.
    for list in lists.into_iter().rev() {
        let rest: Vec<_> = list.try_collect().await.unwrap();
        assert_eq!(rest.last().unwrap().end.unwrap().count, Some(60));
    }
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
}
