//! Streams on which nothing happens: those that are well are left alone, and those that died are found out.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use common::{create, etcd, events, prefix, put};
use futures_util::{StreamExt, future::BoxFuture};
use http::{Request, Response};
use http_body::Frame;
use kubestore_etcd::{EtcdKv, EtcdKvBuilder, testing::free_address};
use kubestore_kv::{Kv, KvWatch, Revision, WatchGroup, WatchItem, WatchState};
use tokio::time::{Instant, timeout};
use tonic::{
    Status,
    body::Body,
    server::NamedService,
    transport::{Channel, Endpoint, Server},
};
use tower::{Service, ServiceExt};

/// A client that asks quiet streams after five seconds.
fn asking() -> EtcdKvBuilder {
    EtcdKv::builder().keepalive(Duration::from_secs(5), Duration::from_secs(1))
}

#[tokio::test]
async fn a_quiet_stream_that_is_well_is_left_alone_and_shows_nothing() {
    let (etcd, kv) = etcd().await;
    let written = create(&kv, "/p/a", "").await;
    let quiet = asking().endpoints([etcd.endpoint()]).connect().await.unwrap();
    // From now; from the next revision, for which the server does not answer progress requests; and from a past one.
    let starts = [None, Some(written.next()), Some(Revision(1))];
    let mut watches = Vec::new();
    for start in starts {
        let mut request = prefix(WatchGroup::new(), "/p/");
        request.start = start;
        watches.push(quiet.watch(request).await.unwrap());
    }
    assert_eq!(events(&mut watches[2]).await[0].kv.mod_revision, written);
    let silent = watches.iter_mut().map(|watch| timeout(Duration::from_secs(13), watch.next()));
    for item in futures_util::future::join_all(silent).await {
        assert!(item.is_err(), "{item:?}");
    }
    let written = put(&kv, "/p/a", "").await;
    for watch in &mut watches {
        assert_eq!(events(watch).await[0].kv.mod_revision, written);
    }
}

#[tokio::test]
async fn progress_that_was_asked_for_is_told_also_after_quiet_times() {
    let (etcd, kv) = etcd().await;
    let quiet = asking().endpoints([etcd.endpoint()]).connect().await.unwrap();
    let group = WatchGroup::new();
    let mut watch = quiet.watch(prefix(group, "/p/")).await.unwrap();
    common::quiet(&mut watch, 6500).await;
    let written = put(&kv, "/elsewhere", "").await;
    quiet.request_progress(group).await.unwrap();
    let item = common::next(&mut watch).await.unwrap();
    assert!(matches!(item, WatchItem::Progress(revision) if revision == written), "{item:?}");
}

#[tokio::test]
async fn a_stream_that_died_behind_a_gateway_is_left_and_nothing_is_lost() {
    let (etcd, kv) = etcd().await;
    let gateway = Gateway::to(&etcd.endpoint()).await;
    let watching = asking().endpoints([gateway.endpoint.clone()]).connect().await.unwrap();
    let group = WatchGroup::new();
    let mut watch = watching.watch(prefix(group, "/p/")).await.unwrap();
    create(&kv, "/p/a", "").await;
    events(&mut watch).await;
    // The connection and its probes are answered by the gateway, and so are calls; only the stream is dead.
    gateway.silence();
    let begin = Instant::now();
    let written = put(&kv, "/p/a", "").await;
    let state = loop {
        if let WatchState::Reconnecting { .. } = state(&mut watch).await {
            break begin.elapsed();
        }
    };
    assert!(state > Duration::from_secs(4) && state < Duration::from_secs(9), "{state:?}");
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
    common::quiet(&mut watch, 300).await;
}

async fn state(watch: &mut KvWatch) -> WatchState {
    match timeout(Duration::from_secs(10), watch.next()).await.expect("silence").unwrap().unwrap() {
        WatchItem::State(state) => state,
        other => panic!("{other:?}"),
    }
}

/// Takes HTTP/2 apart and passes calls on, as a gateway does, so that the client does not speak to etcd directly.
struct Gateway {
    endpoint: String,
    /// Streams that are open when this is set say nothing any more.
    silent: Arc<AtomicBool>,
}

impl Gateway {
    async fn to(endpoint: &str) -> Self {
        let upstream = Endpoint::from_shared(endpoint.to_owned()).unwrap().connect().await.unwrap();
        let silent = Arc::new(AtomicBool::new(false));
        let address: SocketAddr = free_address().unwrap().parse().unwrap();
        let server = Server::builder()
            .add_service(Kvs(Forward { upstream: upstream.clone(), silent: Arc::default() }))
            .add_service(Maintenance(Forward { upstream: upstream.clone(), silent: Arc::default() }))
            .add_service(Watches(Forward { upstream, silent: Arc::clone(&silent) }));
        tokio::spawn(server.serve(address));
        Self { endpoint: format!("http://{address}"), silent }
    }

    fn silence(&self) {
        self.silent.store(true, Ordering::Relaxed);
    }
}

#[derive(Clone)]
struct Forward {
    upstream: Channel,
    silent: Arc<AtomicBool>,
}

impl Forward {
    fn pass(&self, request: Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Infallible>> {
        let Self { upstream, silent } = self.clone();
        Box::pin(async move {
            Ok(match upstream.oneshot(request).await {
                // What is opened later is well.
                Ok(answer) if silent.load(Ordering::Relaxed) => answer,
                Ok(answer) => answer.map(|body| Body::new(Silenced { body, silent })),
                Err(error) => Status::unavailable(error.to_string()).into_http(),
            })
        })
    }
}

/// A body that stops in the middle.
struct Silenced {
    body: Body,
    silent: Arc<AtomicBool>,
}

impl http_body::Body for Silenced {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if self.silent.load(Ordering::Relaxed) { Poll::Pending } else { frame }
    }
}

macro_rules! forwarded {
    ($($name:ident = $service:literal),*) => {$(
        #[derive(Clone)]
        struct $name(Forward);

        impl NamedService for $name {
            const NAME: &'static str = $service;
        }

        impl Service<Request<Body>> for $name {
            type Response = Response<Body>;
            type Error = Infallible;
            type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

            fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
                Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: Request<Body>) -> Self::Future {
                self.0.pass(request)
            }
        }
    )*};
}

forwarded!(Kvs = "etcdserverpb.KV", Maintenance = "etcdserverpb.Maintenance", Watches = "etcdserverpb.Watch");
