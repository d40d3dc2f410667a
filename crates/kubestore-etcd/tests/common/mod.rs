//! What the integration tests share.
#![allow(dead_code, reason = "not every test uses all of it")]

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::{
    Kv, KvError, KvEvent, KvWatch, PutRequest, Revision, WatchGroup, WatchItem, WatchRequest, WatchTarget,
    WriteOutcome,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

/// An etcd of its own, and a client of it.
pub(crate) async fn etcd() -> (EtcdProcess, EtcdKv) {
    let etcd = EtcdProcess::start().await.unwrap();
    let kv = EtcdKv::connect([etcd.endpoint()]).await.unwrap();
    (etcd, kv)
}

/// A client that does not wait long for a server that is away.
pub(crate) async fn impatient(etcd: &EtcdProcess) -> EtcdKv {
    EtcdKv::builder().endpoints([etcd.endpoint()]).retry_for(Duration::ZERO).connect().await.unwrap()
}

/// The revision of a write that happened.
pub(crate) fn done(outcome: WriteOutcome) -> Revision {
    match outcome {
        WriteOutcome::Done { revision } => revision,
        other => panic!("the write did not happen: {other:?}"),
    }
}

/// Creates a key.
pub(crate) async fn create(kv: &EtcdKv, key: &str, value: impl Into<Vec<u8>>) -> Revision {
    done(kv.optimistic_put(PutRequest::create(key.to_owned(), value.into())).await.unwrap())
}

/// Puts, whatever the key is.
pub(crate) async fn put(kv: &EtcdKv, key: &str, value: impl Into<Vec<u8>>) -> Revision {
    let value = value.into();
    let mut expected = Revision(0);
    loop {
        match kv.optimistic_put(PutRequest::update(key.to_owned(), value.clone(), expected)).await.unwrap() {
            WriteOutcome::Done { revision } => return revision,
            WriteOutcome::Conflict { current, .. } => {
                expected = current.map_or(Revision(0), |kv| kv.mod_revision)
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A watch of everything below a prefix.
pub(crate) fn prefix(group: WatchGroup, prefix: &'static str) -> WatchRequest {
    WatchRequest::new(group, WatchTarget::Prefix(Bytes::from_static(prefix.as_bytes())))
}

/// The next item that is not about the connection, within five seconds.
pub(crate) async fn next(watch: &mut KvWatch) -> Result<WatchItem, KvError> {
    let item = async {
        loop {
            match watch.next().await {
                Some(Ok(WatchItem::State(_))) => {}
                Some(item) => return item,
                None => panic!("the watch ended"),
            }
        }
    };
    timeout(Duration::from_secs(5), item).await.expect("nothing came within five seconds")
}

/// The events of the next item.
pub(crate) async fn events(watch: &mut KvWatch) -> Vec<KvEvent> {
    match next(watch).await.unwrap() {
        WatchItem::Events { events, through } => {
            assert_eq!(events.last().unwrap().kv.mod_revision, through);
            events
        }
        other => panic!("not events: {other:?}"),
    }
}

/// Events until `count` have come.
pub(crate) async fn gather(watch: &mut KvWatch, count: usize) -> Vec<KvEvent> {
    let mut all = Vec::new();
    while all.len() < count {
        all.append(&mut events(watch).await);
    }
    all
}

/// Nothing comes for a while.
pub(crate) async fn quiet(watch: &mut KvWatch, millis: u64) {
    if let Ok(item) = timeout(Duration::from_millis(millis), watch.next()).await {
        panic!("unexpected: {item:?}");
    }
}

/// One of etcd's own metrics.
pub(crate) async fn metric(etcd: &EtcdProcess, name: &str) -> f64 {
    let mut connection = tokio::net::TcpStream::connect(etcd.address()).await.unwrap();
    let request = format!("GET /metrics HTTP/1.0\r\nHost: {}\r\n\r\n", etcd.address());
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no metric {name}")).parse().unwrap()
}

/// How long a test that watches for a while does so: `seconds`, or what the variable `KUBESTORE_LONG_SECONDS` says.
pub(crate) fn long(seconds: u64) -> Duration {
    let given = std::env::var("KUBESTORE_LONG_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(given.unwrap_or(seconds))
}
