//! Three members of which some are killed, frozen or cut off.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::{sync::Arc, time::Duration};

use common::{create, events, prefix, put};
use futures_util::StreamExt;
use kubestore_etcd::{
    EtcdKv,
    testing::{EtcdCluster, EtcdSetup, Proxy, TestAuthority},
};
use kubestore_kv::{
    GetRequest, Kv, KvError, KvErrorKind, KvWatch, Maintenance, PutRequest, Revision, WatchGroup, WatchItem,
    WatchState, WriteOutcome,
};
use tokio::time::{Instant, sleep, timeout};

const QUICK: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(1));
/// Within this a member that says nothing must be left.
const NOTICED: Duration = Duration::from_secs(8);

async fn three() -> EtcdCluster {
    EtcdSetup::new().start_cluster(3).await.unwrap()
}

/// A client that uses the member `first` until it fails: the others are out of reach while it connects.
async fn beginning_with(cluster: &EtcdCluster, first: usize) -> (EtcdKv, Vec<Proxy>) {
    let mut proxies = Vec::new();
    for member in cluster.members() {
        proxies.push(Proxy::to(member.address()).await.unwrap());
    }
    proxies.iter().for_each(Proxy::cut);
    proxies[first].mend();
    let kv = EtcdKv::builder()
        .endpoints(proxies.iter().map(Proxy::endpoint))
        .keepalive(QUICK.0, QUICK.1)
        .connect()
        .await
        .unwrap();
    proxies.iter().for_each(Proxy::mend);
    (kv, proxies)
}

/// The first event with this revision; what comes before it must be about the connection.
async fn sees(watch: &mut KvWatch, revision: Revision, within: Duration) {
    let seen = async {
        loop {
            match watch.next().await.expect("the watch ended").unwrap() {
                WatchItem::Events { events, .. } => {
                    assert_eq!(events[0].kv.mod_revision, revision);
                    return;
                }
                WatchItem::State(_) => {}
                other => panic!("{other:?}"),
            }
        }
    };
    timeout(within, seen).await.expect("the event did not come");
}

#[tokio::test]
async fn a_frozen_member_is_left_by_reads_and_watches_within_keepalive_time() {
    let cluster = three().await;
    let leader = cluster.leader().await.unwrap();
    let follower = (leader + 1) % 3;
    let (kv, _proxies) = beginning_with(&cluster, follower).await;
    let writing = cluster.members()[leader].client().connect().await.unwrap();
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    let mut written = create(&kv, "/p/a", "1").await;
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);

    cluster.members()[follower].freeze().unwrap();
    let begin = Instant::now();
    let read = async {
        let read = kv.get(GetRequest::new("/p/a")).await.unwrap();
        (read.kv.unwrap().value, begin.elapsed())
    };
    let watched = async {
        written =
            common::done(writing.optimistic_put(PutRequest::update("/p/a", "2", written)).await.unwrap());
        sees(&mut watch, written, NOTICED).await;
    };
    let ((value, took), ()) = tokio::join!(read, watched);
    assert!(value == "1" || value == "2");
    assert!(took < NOTICED, "{took:?}");
    // What comes next goes to another member at once.
    let begin = Instant::now();
    kv.get(GetRequest::new("/p/a")).await.unwrap();
    written = put(&kv, "/p/a", "3").await;
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    sees(&mut watch, written, Duration::from_secs(1)).await;
    cluster.members()[follower].thaw().unwrap();
    common::quiet(&mut watch, 300).await;
}

#[tokio::test]
async fn a_write_to_a_frozen_member_has_an_unknown_outcome_and_is_not_sent_again() {
    let cluster = three().await;
    let follower = (cluster.leader().await.unwrap() + 1) % 3;
    let (kv, _proxies) = beginning_with(&cluster, follower).await;
    create(&kv, "/p/a", "1").await;
    cluster.members()[follower].freeze().unwrap();
    let begin = Instant::now();
    let error = kv.optimistic_put(PutRequest::create("/p/b", "1")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::OutcomeUnknown, "{error:?}");
    assert!(begin.elapsed() < NOTICED, "{:?}", begin.elapsed());
    // Nobody has it, as long as the member is frozen.
    assert!(kv.get(GetRequest::new("/p/b")).await.unwrap().kv.is_none());
    cluster.members()[follower].thaw().unwrap();
}

#[tokio::test]
async fn a_dead_member_is_left_out_and_taken_back_when_it_serves_again() {
    let mut cluster = three().await;
    let kv = cluster.client().connect().await.unwrap();
    let written = create(&kv, "/p/a", "1").await;
    for dead in 0..3 {
        cluster.member_mut(dead).kill();
        // The election included, if the leader was killed.
        let begin = Instant::now();
        assert_eq!(kv.get(GetRequest::new("/p/a")).await.unwrap().kv.unwrap().mod_revision, written);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        // None of these meets the dead member.
        for _ in 0..20 {
            let begin = Instant::now();
            kv.get(GetRequest::new("/p/a")).await.unwrap();
            assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
        }
        cluster.member_mut(dead).restart().await.unwrap();
    }
}

#[tokio::test]
async fn a_member_without_the_others_is_left_for_one_with_a_leader() {
    let cluster = three().await;
    let leader = cluster.leader().await.unwrap();
    let follower = (leader + 1) % 3;
    let (kv, _proxies) = beginning_with(&cluster, follower).await;
    let writing = cluster.client().connect().await.unwrap();
    let mut written = create(&kv, "/p/a", "1").await;
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").from(written)).await.unwrap();
    sees(&mut watch, written, Duration::from_secs(1)).await;
    cluster.isolate(follower);
    let cut_off = async {
        while !matches!(
            watch.next().await.unwrap().unwrap(),
            WatchItem::State(WatchState::Reconnecting { .. })
        ) {}
    };
    timeout(Duration::from_secs(10), cut_off).await.expect("the member still has the others");
    // It takes connections and answers what it can alone; a read that all must agree on times out there.
    let begin = Instant::now();
    assert!(kv.get(GetRequest::new("/p/a")).await.unwrap().kv.is_some());
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    written = retry(|| writing.optimistic_put(PutRequest::update("/p/a", "2", written))).await;
    sees(&mut watch, written, Duration::from_secs(10)).await;
    cluster.heal();
    common::quiet(&mut watch, 300).await;
}

/// A conditional write until it is known to have happened.
async fn retry<F>(write: impl Fn() -> F) -> Revision
where
    F: Future<Output = Result<WriteOutcome, KvError>>,
{
    loop {
        match write().await {
            Ok(WriteOutcome::Done { revision }) => return revision,
            Ok(WriteOutcome::Conflict { current, .. }) => return current.unwrap().mod_revision,
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert!(error.is_retryable() || error.kind() == KvErrorKind::OutcomeUnknown, "{error:?}")
            }
        }
    }
}

#[tokio::test]
async fn with_two_of_three_killed_a_watch_ends_with_no_leader_or_moves_and_never_is_silent() {
    let mut cluster = three().await;
    let (kv, _proxies) = beginning_with(&cluster, 0).await;
    let written = create(&kv, "/p/a", "1").await;
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").from(written)).await.unwrap();
    sees(&mut watch, written, Duration::from_secs(1)).await;
    cluster.member_mut(1).kill();
    cluster.member_mut(2).kill();
    let begin = Instant::now();
    let error = async {
        loop {
            match watch.next().await.expect("an error before the end") {
                Ok(WatchItem::State(WatchState::Live | WatchState::Reconnecting { .. })) => {}
                Ok(other) => panic!("{other:?}"),
                Err(error) => return error,
            }
        }
    };
    let error = timeout(Duration::from_secs(18), error).await.expect("silence");
    assert_eq!(error.kind(), KvErrorKind::NoLeader, "{error:?}");
    assert!(error.to_string().contains("no leader; are enough members up?"), "{error}");
    assert!(watch.next().await.is_none());
    println!("ended after {:?}", begin.elapsed());
}

#[tokio::test]
async fn watches_move_through_a_rolling_freeze_without_loss_or_repeat() {
    let cluster = three().await;
    let (kv, _proxies) = beginning_with(&cluster, 0).await;
    let writing = cluster
        .client()
        .keepalive(QUICK.0, QUICK.1)
        .request_timeout(Duration::from_secs(2))
        .retry_for(Duration::ZERO)
        .connect()
        .await
        .unwrap();
    let watch = kv.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    let writer = tokio::spawn(async move {
        let mut acknowledged = Vec::new();
        let begin = Instant::now();
        for n in 0.. {
            if begin.elapsed() > Duration::from_secs(12) {
                break;
            }
            match writing.optimistic_put(PutRequest::create(format!("/p/{n:05}"), "x")).await {
                Ok(WriteOutcome::Done { revision }) => acknowledged.push(revision),
                Ok(other) => panic!("{other:?}"),
                Err(error) => {
                    assert!(error.is_retryable() || error.kind() == KvErrorKind::OutcomeUnknown, "{error:?}")
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
        acknowledged
    });
    let reader = tokio::spawn(collect(watch));
    for member in [0, 1] {
        cluster.members()[member].freeze().unwrap();
        sleep(Duration::from_secs(4)).await;
        cluster.members()[member].thaw().unwrap();
        sleep(Duration::from_secs(1)).await;
    }
    let acknowledged = writer.await.unwrap();
    let end = cluster.client().connect().await.unwrap();
    create(&end, "/p/end", "").await;
    let seen = timeout(Duration::from_secs(10), reader).await.expect("the end did not come").unwrap();
    assert!(seen.is_sorted_by(|a, b| a < b), "repeated or out of order");
    let missing: Vec<_> = acknowledged.iter().filter(|revision| !seen.contains(revision)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(acknowledged.len() > 50, "{}", acknowledged.len());
}

/// The revisions of all events up to that of `/p/end`.
async fn collect(mut watch: KvWatch) -> Vec<Revision> {
    let mut seen = Vec::new();
    loop {
        if let WatchItem::Events { events, .. } = watch.next().await.unwrap().unwrap() {
            seen.extend(events.iter().map(|event| event.kv.mod_revision));
            if events.iter().any(|event| event.kv.key == "/p/end") {
                return seen;
            }
        }
    }
}

#[tokio::test]
async fn a_cluster_with_tls_and_users_survives_the_loss_of_its_leader() {
    let authority = Arc::new(TestAuthority::new().unwrap());
    let server = authority.server("server", ["127.0.0.1"]).unwrap();
    let client = authority.client("client").unwrap();
    let mut cluster = EtcdSetup::new()
        .mutual_tls(&authority, server, client)
        .root("secret")
        .start_cluster(3)
        .await
        .unwrap();
    let kv = cluster.client().connect().await.unwrap();
    let mut written = create(&kv, "/p/a", "1").await;
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").from(written)).await.unwrap();
    sees(&mut watch, written, Duration::from_secs(1)).await;
    let leader = cluster.leader().await.unwrap();
    cluster.member_mut(leader).kill();
    written = retry(|| kv.optimistic_put(PutRequest::update("/p/a", "2", written))).await;
    sees(&mut watch, written, Duration::from_secs(10)).await;
    cluster.member_mut(leader).restart().await.unwrap();
    // It does not know the token of before.
    let members = kv.members().await.unwrap();
    assert!(members.iter().all(|member| !member.version.is_empty()), "{members:?}");
    let to = (cluster.leader().await.unwrap() + 1) % 3;
    cluster.move_leader(to).await.unwrap();
    assert_eq!(cluster.leader().await.unwrap(), to);
    assert!(kv.status().await.unwrap().progress_requests);
}

#[tokio::test]
async fn an_answer_that_is_lost_leaves_the_outcome_of_a_write_unknown_and_a_read_does_not_mind() {
    let cluster = three().await;
    let (kv, proxies) = beginning_with(&cluster, 0).await;
    create(&kv, "/p/a", "1").await;
    proxies[0].lose_answer();
    let error = kv.optimistic_put(PutRequest::create("/p/b", "1")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::OutcomeUnknown, "{error:?}");
    // It did happen, and only once.
    let found = kv.get(GetRequest::new("/p/b")).await.unwrap().kv.unwrap();
    assert_eq!(found.version, 1);
    let (kv, proxies) = beginning_with(&cluster, 1).await;
    kv.get(GetRequest::new("/p/a")).await.unwrap();
    proxies[1].lose_answer();
    assert!(kv.get(GetRequest::new("/p/a")).await.unwrap().kv.is_some());
}

#[tokio::test]
async fn a_write_goes_to_the_next_member_where_no_connection_came_about() {
    let cluster = three().await;
    let (kv, proxies) = beginning_with(&cluster, 0).await;
    create(&kv, "/p/a", "1").await;
    proxies[0].cut();
    // Once the loss of the connection is known there is nothing that could have been sent.
    sleep(Duration::from_millis(200)).await;
    create(&kv, "/p/b", "1").await;
}
