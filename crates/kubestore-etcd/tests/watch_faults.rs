//! Watches while the server is killed, restarted, frozen or compacted.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::time::Duration;

use common::{create, etcd, events, impatient, long, next, prefix, put};
use futures_util::StreamExt;
use kubestore_etcd::{
    EtcdKv,
    testing::{EtcdProcess, Proxy, free_address},
};
use kubestore_kv::{
    GetRequest, Kv, KvErrorKind, KvWatch, Maintenance, PutRequest, Revision, WatchGroup, WatchItem,
    WatchState, WriteOutcome,
};
use tokio::time::{Instant, sleep, timeout};

async fn state(watch: &mut KvWatch) -> WatchState {
    match timeout(Duration::from_secs(10), watch.next()).await.expect("no state within ten seconds") {
        Some(Ok(WatchItem::State(state))) => state,
        other => panic!("not a state: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_write_comes_once_and_in_order_through_five_kills() {
    let (mut etcd, kv) = etcd().await;
    let writing = impatient(&etcd).await;
    let watch = kv.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    // 200 writes a second, by four writers of which each notes what it knows to be written.
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let kv = writing.clone();
            tokio::spawn(async move {
                let mut written = Vec::new();
                let mut ticks = tokio::time::interval(Duration::from_millis(20));
                let begin = Instant::now();
                for n in 0_u32.. {
                    ticks.tick().await;
                    if begin.elapsed() > Duration::from_secs(8) {
                        break;
                    }
                    let key = format!("/p/{writer}-{n:05}");
                    match kv.optimistic_put(PutRequest::create(key.clone(), "x")).await {
                        Ok(WriteOutcome::Done { revision }) => written.push((revision, key)),
                        Ok(other) => panic!("{other:?}"),
                        Err(error) => assert!(
                            matches!(error.kind(), KvErrorKind::Unavailable | KvErrorKind::OutcomeUnknown),
                            "{error:?}"
                        ),
                    }
                }
                written
            })
        })
        .collect();
    let consumer = tokio::spawn(consume(watch));
    for _ in 0..5 {
        sleep(Duration::from_millis(800)).await;
        etcd.restart().await.unwrap();
    }
    let mut written = Vec::new();
    for writer in writers {
        written.append(&mut writer.await.unwrap());
    }
    written.push((create(&kv, "/p/last", "").await, "/p/last".to_owned()));
    let (seen, breaks) = consumer.await.unwrap();
    assert!(seen.is_sorted_by(|a, b| a.0 < b.0), "repeated or out of order");
    let missed: Vec<_> = written.iter().filter(|write| seen.binary_search(write).is_err()).collect();
    assert!(missed.is_empty(), "missed {missed:?}");
    // What is more was a write whose answer was lost: all of it is in the store.
    assert_eq!(i64::try_from(seen.len()).unwrap(), kv.count("/p/".into()).await.unwrap());
    assert!(breaks >= 5 && written.len() > 500, "{breaks} breaks, {} writes", written.len());
}

/// All changes up to that of `/p/last`, and how often the connection broke.
async fn consume(mut watch: KvWatch) -> (Vec<(Revision, String)>, usize) {
    let (mut seen, mut breaks) = (Vec::new(), 0);
    loop {
        match timeout(Duration::from_secs(20), watch.next()).await.unwrap().unwrap().unwrap() {
            WatchItem::Events { events, through } => {
                assert_eq!(events.last().unwrap().kv.mod_revision, through);
                seen.extend(
                    events.into_iter().map(|event| {
                        (event.kv.mod_revision, String::from_utf8(event.kv.key.to_vec()).unwrap())
                    }),
                );
                if seen.last().is_some_and(|(_, key)| key == "/p/last") {
                    return (seen, breaks);
                }
            }
            WatchItem::State(WatchState::Reconnecting { .. }) => breaks += 1,
            _ => {}
        }
    }
}

/// A client that reaches the server through a proxy only.
async fn behind(proxy: &Proxy) -> EtcdKv {
    EtcdKv::builder().endpoints([proxy.endpoint()]).retry_for(Duration::ZERO).connect().await.unwrap()
}

#[tokio::test]
async fn a_watch_from_now_that_saw_nothing_resumes_where_it_was_registered() {
    let (etcd, kv) = etcd().await;
    let proxy = Proxy::to(etcd.address()).await.unwrap();
    let watching = behind(&proxy).await;
    create(&kv, "/p/before", "").await;
    let mut watch = watching.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    proxy.cut();
    assert!(matches!(state(&mut watch).await, WatchState::Reconnecting { .. }));
    let written = create(&kv, "/p/meanwhile", "").await;
    proxy.mend();
    let seen = events(&mut watch).await;
    assert_eq!((seen.len(), seen[0].kv.mod_revision), (1, written));
}

#[tokio::test]
async fn the_state_of_the_connection_can_be_observed() {
    let (mut etcd, kv) = etcd().await;
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    let before = std::time::SystemTime::now();
    etcd.kill();
    let WatchState::Reconnecting { since } = state(&mut watch).await else { panic!("not reconnecting") };
    assert!(since >= before && since <= std::time::SystemTime::now());
    etcd.restart().await.unwrap();
    assert_eq!(state(&mut watch).await, WatchState::Live);
    create(&kv, "/p/a", "").await;
    assert_eq!(events(&mut watch).await.len(), 1);
}

#[tokio::test]
async fn a_history_compacted_while_away_is_one_error_and_the_end() {
    let (etcd, kv) = etcd().await;
    let proxy = Proxy::to(etcd.address()).await.unwrap();
    let watching = behind(&proxy).await;
    let group = WatchGroup::new();
    let mut watch = watching.watch(prefix(group, "/p/")).await.unwrap();
    let mut future = watching.watch(prefix(group, "/p/").from(Revision(100))).await.unwrap();
    proxy.cut();
    assert!(matches!(state(&mut watch).await, WatchState::Reconnecting { .. }));
    let mut last = Revision(0);
    for n in 0..10 {
        last = put(&kv, "/p/a", n.to_string()).await;
    }
    kv.compact(last).await.unwrap();
    proxy.mend();
    let error = next(&mut watch).await.unwrap_err();
    assert_eq!((error.kind(), error.revision()), (KvErrorKind::Compacted, Some(last)));
    assert!(watch.next().await.is_none());
    // The other one of the stream goes on.
    while put(&kv, "/p/a", "").await < Revision(100) {}
    assert_eq!(events(&mut future).await[0].kv.mod_revision, Revision(100));
}

#[tokio::test]
async fn progress_says_where_a_quiet_watch_resumes() {
    let (etcd, kv) = etcd().await;
    let proxy = Proxy::to(etcd.address()).await.unwrap();
    let watching = behind(&proxy).await;
    let group = WatchGroup::new();
    let mut watch = watching.watch(prefix(group, "/p/")).await.unwrap();
    let last = put(&kv, "/elsewhere", "").await;
    watching.request_progress(group).await.unwrap();
    assert!(matches!(next(&mut watch).await.unwrap(), WatchItem::Progress(revision) if revision == last));
    proxy.cut();
    assert!(matches!(state(&mut watch).await, WatchState::Reconnecting { .. }));
    // Without the progress the watch would have to go on at a compacted revision.
    kv.compact(last).await.unwrap();
    proxy.mend();
    let written = create(&kv, "/p/a", "").await;
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
}

#[tokio::test]
async fn a_watch_moves_to_an_endpoint_that_answers() {
    let (etcd, kv) = etcd().await;
    let (first, second) =
        (Proxy::to(etcd.address()).await.unwrap(), Proxy::to(etcd.address()).await.unwrap());
    let dead = free_address().unwrap();
    let endpoints = [format!("http://{dead}"), first.endpoint(), second.endpoint()];
    let watching = EtcdKv::connect(endpoints).await.unwrap();
    let mut watch = watching.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    for (cut, mended) in [(&first, &second), (&second, &first)] {
        mended.mend();
        cut.cut();
        let written = put(&kv, "/p/a", "").await;
        let begin = Instant::now();
        assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    }
    assert!(watching.get(GetRequest::new("/p/a")).await.unwrap().kv.is_some());
}

#[tokio::test]
async fn a_watch_is_refused_when_nobody_can_be_reached() {
    let (mut etcd, kv) = etcd().await;
    let quick = impatient(&etcd).await;
    let patient = EtcdKv::builder()
        .endpoints([etcd.endpoint()])
        .retry_for(Duration::from_secs(1))
        .connect()
        .await
        .unwrap();
    etcd.kill();
    for (kv, limit) in [(quick, 500), (patient, 1500)] {
        let begin = Instant::now();
        let error = kv.watch(prefix(WatchGroup::new(), "/p/")).await.err().unwrap();
        assert_eq!((error.kind(), error.key()), (KvErrorKind::Unavailable, Some(&b"/p/"[..])));
        assert!(begin.elapsed() < Duration::from_millis(limit), "{:?}", begin.elapsed());
    }
    // And waits for one that comes back.
    let (watch, restarted) = tokio::join!(kv.watch(prefix(WatchGroup::new(), "/p/")), etcd.restart());
    restarted.unwrap();
    let mut watch = watch.unwrap();
    create(&kv, "/p/a", "").await;
    assert_eq!(events(&mut watch).await.len(), 1);
}

#[tokio::test]
async fn an_idle_watch_costs_little_while_the_server_is_away() {
    let (mut etcd, kv) = etcd().await;
    let mut watches = Vec::new();
    for _ in 0..3 {
        watches.push(kv.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap());
    }
    etcd.kill();
    for watch in &mut watches {
        assert!(matches!(state(watch).await, WatchState::Reconnecting { .. }));
    }
    // Only this thread runs the client; its time is what the watches cost.
    let (before, begin) = (thread_cpu(), Instant::now());
    sleep(long(6)).await;
    let share = (thread_cpu() - before).as_secs_f64() / begin.elapsed().as_secs_f64();
    assert!(share < 0.05, "{:.1} % of a core", share * 100.0);
    etcd.restart().await.unwrap();
    let written = create(&kv, "/p/a", "").await;
    for watch in &mut watches {
        assert_eq!(events(watch).await[0].kv.mod_revision, written);
    }
}

/// Time that the current thread has spent on a processor, from the first number of `schedstat`, in nanoseconds.
fn thread_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_frozen_server_is_noticed_by_keepalive_and_nothing_is_lost() {
    let (etcd, kv) = etcd().await;
    let probing = EtcdKv::builder()
        .endpoints([etcd.endpoint()])
        .keepalive(Duration::from_secs(5), Duration::from_secs(1))
        .connect()
        .await
        .unwrap();
    let mut watch = probing.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    etcd.freeze().unwrap();
    let begin = Instant::now();
    let noticed = state(&mut watch).await;
    assert!(matches!(noticed, WatchState::Reconnecting { .. }));
    assert!(begin.elapsed() < Duration::from_secs(7), "{:?}", begin.elapsed());
    etcd.thaw().unwrap();
    let written = create(&kv, "/p/a", "").await;
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
    common::quiet(&mut watch, 300).await;
}

#[tokio::test]
async fn a_lost_leader_ends_watches_and_refuses_new_ones_until_there_is_one_again() {
    let mut cluster = EtcdProcess::start_cluster(3, None::<String>).await.unwrap();
    let kv = EtcdKv::builder()
        .endpoints([cluster[0].endpoint()])
        .retry_for(Duration::from_millis(500))
        .connect()
        .await
        .unwrap();
    let all = EtcdKv::builder()
        .endpoints(cluster.iter().map(EtcdProcess::endpoint))
        .retry_for(Duration::from_millis(500))
        .connect()
        .await
        .unwrap();
    let written = create(&kv, "/p/a", "").await;
    let mut watches = Vec::new();
    for kv in [&kv, &all] {
        let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").from(written)).await.unwrap();
        assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
        watches.push(watch);
    }
    cluster[1].kill();
    cluster[2].kill();
    for watch in &mut watches {
        let ended = async {
            loop {
                match watch.next().await.expect("an error before the end") {
                    Ok(WatchItem::State(_)) => {}
                    Ok(other) => panic!("{other:?}"),
                    Err(error) => return error,
                }
            }
        };
        let error = timeout(Duration::from_secs(15), ended).await.expect("an end within 15 seconds");
        assert_eq!(error.kind(), KvErrorKind::NoLeader, "{error:?}");
        assert!(watch.next().await.is_none());
    }
    let error = kv.watch(prefix(WatchGroup::new(), "/p/")).await.err().unwrap();
    assert_eq!(error.kind(), KvErrorKind::NoLeader);
    // Only watches demand a leader: what a member can answer by itself it answers.
    assert!(!kv.members().await.unwrap()[0].version.is_empty());
    cluster[1].restart().await.unwrap();
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").from(written)).await.unwrap();
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
}

#[tokio::test]
async fn a_watch_outlives_the_election_after_its_leader_was_killed() {
    let mut cluster = EtcdProcess::start_cluster(3, None::<String>).await.unwrap();
    let kv = EtcdKv::connect(cluster.iter().map(EtcdProcess::endpoint)).await.unwrap();
    let leader = kv.members().await.unwrap().iter().position(|member| member.leader).unwrap();
    let mut proxies = Vec::new();
    for member in &cluster {
        proxies.push(Proxy::to(member.address()).await.unwrap());
    }
    // With the leader, because nobody else can be reached at first.
    proxies.iter().for_each(Proxy::cut);
    proxies[leader].mend();
    let watching = EtcdKv::connect(proxies.iter().map(Proxy::endpoint)).await.unwrap();
    let mut watch = watching.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    proxies.iter().for_each(Proxy::mend);
    cluster[leader].kill();
    let written = loop {
        match kv.optimistic_put(PutRequest::update("/p/a", "x", Revision(0))).await {
            Ok(WriteOutcome::Done { revision }) => break revision,
            Ok(WriteOutcome::Conflict { current, .. }) => break current.unwrap().mod_revision,
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert!(error.is_retryable() || error.kind() == KvErrorKind::OutcomeUnknown, "{error:?}")
            }
        }
    };
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
}
