//! Sizes and faults: what is too large, who does not answer, what is not known.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::{error::Error, time::Duration};

use common::{create, done, etcd, impatient, next, prefix};
use etcd_client::{AlarmAction, AlarmOptions, AlarmType};
use futures_util::{StreamExt, TryStreamExt, future::join_all};
use kubestore_etcd::{
    EtcdKv,
    testing::{EtcdProcess, Proxy, free_address},
};
use kubestore_kv::{
    DeleteRequest, GetRequest, Kv, KvErrorKind, ListRequest, Maintenance, PutRequest, WatchGroup,
};
use tokio::time::Instant;

const KIB: usize = 1024;

#[tokio::test]
async fn ten_thousand_keys_of_four_kib_are_listed_in_one_call() {
    let (_etcd, kv) = etcd().await;
    join_all((0..20).map(|writer| {
        let kv = kv.clone();
        async move {
            for n in 0..500 {
                create(&kv, &format!("/p/{writer:02}-{n:03}"), vec![b'x'; 4 * KIB]).await;
            }
        }
    }))
    .await;
    let listed = kv.list(ListRequest::new("/p/")).await.unwrap();
    assert_eq!(listed.kvs.len(), 10_000);
    assert!(listed.kvs.iter().all(|kv| kv.value.len() == 4 * KIB));
    assert!(listed.kvs.is_sorted_by(|a, b| a.key < b.key));
}

#[tokio::test]
async fn a_list_that_does_not_fit_into_a_message_is_read_in_parts() {
    let etcd = EtcdProcess::start().await.unwrap();
    let kv = EtcdKv::builder()
        .endpoints([etcd.endpoint()])
        .max_response_bytes(2 * KIB * KIB)
        .connect()
        .await
        .unwrap();
    for n in 0..12 {
        create(&kv, &format!("/p/{n:02}"), vec![b'x'; 700 * KIB]).await;
    }
    let listed = kv.list(ListRequest::new("/p/")).await.unwrap();
    assert_eq!((listed.kvs.len(), listed.count, listed.more), (12, Some(12), false));
    let parts: Vec<_> = kv.list_chunks(ListRequest::new("/p/").limit(5)).try_collect().await.unwrap();
    assert!(parts.len() > 1);
    assert_eq!(parts.iter().map(|part| part.kvs.len()).sum::<usize>(), 5);
    assert!(parts.last().unwrap().end.unwrap().more);

    // A single key above the limit is an error that names the setting.
    let small =
        EtcdKv::builder().endpoints([etcd.endpoint()]).max_response_bytes(512 * KIB).connect().await.unwrap();
    for error in [
        small.list(ListRequest::new("/p/")).await.unwrap_err(),
        small.get(GetRequest::new("/p/00")).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), KvErrorKind::TooLarge);
        assert!(error.to_string().contains("max_response_bytes"), "{error}");
    }
}

#[tokio::test]
async fn what_is_too_large_is_one_typed_error_whoever_refuses() {
    let (etcd, kv) = etcd().await;
    let unlimited =
        EtcdKv::builder().endpoints([etcd.endpoint()]).max_request_bytes(None).connect().await.unwrap();
    create(&kv, "/fits", vec![0; 1400 * KIB]).await;
    let read = kv.get(GetRequest::new("/fits")).await.unwrap();
    assert_eq!(read.kv.unwrap().value.len(), 1400 * KIB);

    let error = kv.optimistic_put(PutRequest::create("/big", vec![0; 1600 * KIB])).await.unwrap_err();
    assert_eq!((error.kind(), error.key()), (KvErrorKind::TooLarge, Some(&b"/big"[..])));
    assert!(error.to_string().contains("1638430 bytes, the limit is 1572864"), "{error}");
    assert!(error.source().is_none(), "it was sent: {error:?}");
    // 1.6 MiB is refused by the server, 2.1 and 5 MiB by the transport.
    for (size, around) in [(1600 * KIB, 30), (2150 * KIB, 33), (5 * KIB * KIB, 33)] {
        let error = unlimited.optimistic_put(PutRequest::create("/big", vec![0; size])).await.unwrap_err();
        assert_eq!(error.kind(), KvErrorKind::TooLarge, "{size}: {error:?}");
        assert!(error.to_string().contains(&format!("{} bytes", size + around)), "{error}");
        assert!(error.source().is_some());
    }
    assert!(kv.get(GetRequest::new("/big")).await.unwrap().kv.is_none());
}

#[tokio::test]
async fn a_closed_port_is_one_clear_error_within_the_dial_timeout() {
    let address = free_address().unwrap();
    let begin = Instant::now();
    let dial = Duration::from_secs(1);
    let error =
        EtcdKv::builder().endpoints([address.clone()]).dial_timeout(dial).connect().await.unwrap_err();
    assert!(begin.elapsed() < dial + Duration::from_millis(500), "{:?}", begin.elapsed());
    assert_eq!(error.kind(), KvErrorKind::Unavailable);
    assert!(
        error.to_string().contains(&format!("no etcd answered at http://{address} within 1s")),
        "{error}"
    );
    let cause = error.source().unwrap().to_string();
    assert!(cause.contains("onnection refused"), "{cause}");
}

#[tokio::test]
async fn connecting_waits_for_a_server_that_is_starting() {
    let mut etcd = EtcdProcess::start().await.unwrap();
    etcd.kill();
    let connecting = EtcdKv::connect([etcd.endpoint()]);
    let (restarted, kv) = tokio::join!(etcd.restart(), connecting);
    restarted.unwrap();
    assert!(kv.unwrap().status().await.is_ok());
}

#[tokio::test]
async fn reads_wait_for_a_restart_and_writes_do_not() {
    let (mut etcd, kv) = etcd().await;
    let written = create(&kv, "/a", "1").await;
    etcd.kill();
    let error = kv.optimistic_put(PutRequest::update("/a", "2", written)).await.unwrap_err();
    assert!(matches!(error.kind(), KvErrorKind::Unavailable | KvErrorKind::OutcomeUnknown), "{error:?}");
    // The dead connection is known by now, so that nothing is sent any more.
    let error = kv.optimistic_put(PutRequest::update("/a", "3", written)).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::Unavailable, "{error:?}");
    assert_eq!(kv.members().await.unwrap_err().kind(), KvErrorKind::Unavailable);
    let (restarted, read) = tokio::join!(etcd.restart(), kv.get(GetRequest::new("/a")));
    restarted.unwrap();
    assert_eq!(read.unwrap().kv.unwrap().value, "1");
}

#[tokio::test]
async fn a_kill_in_the_middle_of_writes_never_looks_like_success_or_plain_failure() {
    let (mut etcd, _) = etcd().await;
    let kv = impatient(&etcd).await;
    let writers = (0..8).map(|writer| {
        let kv = kv.clone();
        tokio::spawn(async move {
            let mut acknowledged = Vec::new();
            for n in 0.. {
                let key = format!("/w/{writer}-{n:06}");
                match kv.optimistic_put(PutRequest::create(key.clone(), "x")).await {
                    Ok(outcome) => acknowledged.push((key, done(outcome))),
                    Err(error) => return (acknowledged, key, error),
                }
            }
            unreachable!()
        })
    });
    let writers: Vec<_> = writers.collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    etcd.kill();
    let ended = join_all(writers).await;
    etcd.restart().await.unwrap();
    let mut total = 0;
    for ended in ended {
        let (acknowledged, last, error) = ended.unwrap();
        assert!(matches!(error.kind(), KvErrorKind::OutcomeUnknown | KvErrorKind::Unavailable), "{error:?}");
        total += acknowledged.len();
        for (key, revision) in acknowledged {
            let found = kv.get(GetRequest::new(key)).await.unwrap().kv.unwrap();
            assert_eq!(found.mod_revision, revision);
        }
        if error.kind() == KvErrorKind::Unavailable {
            assert!(kv.get(GetRequest::new(last)).await.unwrap().kv.is_none(), "{error:?}");
        }
    }
    assert!(total > 0);
}

#[tokio::test]
async fn a_frozen_server_ends_calls_at_their_deadline() {
    let (etcd, _) = etcd().await;
    let kv = EtcdKv::builder()
        .endpoints([etcd.endpoint()])
        .request_timeout(Duration::from_millis(700))
        .connect()
        .await
        .unwrap();
    let written = create(&kv, "/a", "1").await;
    etcd.freeze().unwrap();
    let begin = Instant::now();
    assert_eq!(kv.get(GetRequest::new("/a")).await.unwrap_err().kind(), KvErrorKind::DeadlineExceeded);
    let error = kv.optimistic_put(PutRequest::update("/a", "2", written)).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::OutcomeUnknown);
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    etcd.thaw().unwrap();
}

#[tokio::test]
async fn a_dead_endpoint_is_left_for_one_that_answers() {
    let (etcd, _) = etcd().await;
    let dead = free_address().unwrap();
    let kv = EtcdKv::connect([format!("http://{dead}"), etcd.endpoint()]).await.unwrap();
    let written = create(&kv, "/a", "1").await;
    assert_eq!(kv.get(GetRequest::new("/a")).await.unwrap().head, written);
    let status = kv.status().await.unwrap();
    assert!(!status.progress_requests, "the version of one endpoint is not known");
    let members = kv.members().await.unwrap();
    assert_eq!(members.iter().map(|member| member.version.is_empty()).collect::<Vec<_>>(), [true, false]);
}

#[tokio::test]
async fn a_full_quota_refuses_puts_and_grants_and_lets_the_rest_through() {
    let etcd = EtcdProcess::start_with(["--quota-backend-bytes=4194304"]).await.unwrap();
    let kv = EtcdKv::connect([etcd.endpoint()]).await.unwrap();
    let mut written = Vec::new();
    let error = loop {
        let key = format!("/p/{}", written.len());
        match kv.optimistic_put(PutRequest::create(key.clone(), vec![0; 400 * KIB])).await {
            Ok(outcome) => written.push((key, done(outcome))),
            Err(error) => break error,
        }
        assert!(written.len() < 100, "the quota was never full");
    };
    assert_eq!(error.kind(), KvErrorKind::NoSpace);
    assert!(error.to_string().contains("compact, defragment"), "{error}");
    assert_eq!(kv.grant_lease(Duration::from_secs(60)).await.unwrap_err().kind(), KvErrorKind::NoSpace);
    assert_eq!(kv.members().await.unwrap()[0].alarms, ["NOSPACE"]);
    let mut head = written.last().unwrap().1;
    for (key, revision) in &written {
        assert!(kv.get(GetRequest::new(key.clone())).await.unwrap().kv.is_some());
        head = done(kv.optimistic_delete(DeleteRequest::new(key.clone(), *revision)).await.unwrap());
    }
    kv.compact(head).await.unwrap();
    assert_eq!(kv.count("/p/".into()).await.unwrap(), 0);
    // The remedy that the error names, without a restart of anything. The space is given free some time after the
    // compaction has returned.
    let begin = Instant::now();
    while kv.members().await.unwrap()[0].db_size > 1024 * 1024 {
        assert!(begin.elapsed() < Duration::from_secs(10), "the space was never given back");
        kv.defragment(&etcd.endpoint()).await.unwrap();
    }
    let mut admin = etcd_client::Client::connect([etcd.endpoint()], None).await.unwrap();
    for alarm in admin.alarm(AlarmAction::Get, AlarmType::None, None).await.unwrap().alarms() {
        let mut options = AlarmOptions::new();
        options.with_member(alarm.member_id());
        admin.alarm(AlarmAction::Deactivate, alarm.alarm(), Some(options)).await.unwrap();
    }
    assert!(kv.members().await.unwrap()[0].alarms.is_empty());
    create(&kv, "/p/again", vec![0; 400 * KIB]).await;
}

#[tokio::test]
async fn a_server_that_wants_a_password_says_so_on_every_call() {
    let (etcd, kv) = etcd().await;
    let mut admin = etcd_client::Client::connect([etcd.endpoint()], None).await.unwrap();
    admin.user_add("root", "secret", None).await.unwrap();
    admin.user_grant_role("root", "root").await.unwrap();
    let proxy = Proxy::to(etcd.address()).await.unwrap();
    let watching = EtcdKv::connect([proxy.endpoint()]).await.unwrap();
    let mut live = watching.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    admin.auth_enable().await.unwrap();

    let begin = Instant::now();
    for error in [
        kv.get(GetRequest::new("/p/a")).await.unwrap_err(),
        kv.list(ListRequest::new("/p/")).await.unwrap_err(),
        kv.optimistic_put(PutRequest::create("/p/a", "")).await.unwrap_err(),
        kv.watch(prefix(WatchGroup::new(), "/p/")).await.err().unwrap(),
    ] {
        assert_eq!((error.kind(), error.key().is_some()), (KvErrorKind::Unauthenticated, true), "{error:?}");
        assert!(error.to_string().contains("user and a password"), "{error}");
    }
    // A watch that was registered before finds out when it has to come back.
    proxy.cut();
    proxy.mend();
    let error = next(&mut live).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::Unauthenticated);
    assert!(live.next().await.is_none());
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}
