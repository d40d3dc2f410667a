//! Users, passwords and tokens that expire.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::{error::Error, time::Duration};

use common::{create, events, metric, next, prefix, put};
use etcd_client::{Client, ConnectOptions, Permission, PermissionType};
use futures_util::{StreamExt, future::join_all};
use kubestore_etcd::{
    EtcdKv,
    testing::{EtcdProcess, EtcdSetup, Proxy, TestAuthority},
};
use kubestore_kv::{GetRequest, Kv, KvErrorKind, ListRequest, PutRequest, WatchGroup};
use tokio::time::{Instant, sleep};

/// etcd with a user and tokens that last for so many seconds after they were last used.
async fn short_lived(seconds: u64) -> EtcdProcess {
    EtcdSetup::new().args([format!("--auth-token-ttl={seconds}")]).root("secret").start().await.unwrap()
}

async fn admin(etcd: &EtcdProcess) -> Client {
    let options = ConnectOptions::new().with_user("root", "secret");
    Client::connect([etcd.endpoint()], Some(options)).await.unwrap()
}

/// How many passwords the server has checked; each costs it a good part of a second.
async fn authentications(etcd: &EtcdProcess) -> f64 {
    metric(
        etcd,
        "grpc_server_handled_total{grpc_code=\"OK\",grpc_method=\"Authenticate\",grpc_service=\"etcdserverpb.Auth\",\
         grpc_type=\"unary\"}",
    )
    .await
}

#[tokio::test]
async fn an_expired_token_is_renewed_once_for_everybody_who_finds_out() {
    let etcd = short_lived(5).await;
    let kv = etcd.client().connect().await.unwrap();
    create(&kv, "/p/a", "1").await;
    let before = authentications(&etcd).await;
    sleep(Duration::from_secs(7)).await;
    let reads = join_all((0..20).map(|_| kv.get(GetRequest::new("/p/a")))).await;
    assert!(reads.into_iter().all(|read| read.unwrap().kv.unwrap().value == "1"));
    assert_eq!(authentications(&etcd).await - before, 1.0);
}

#[tokio::test]
async fn after_an_idle_while_every_call_gets_a_new_token() {
    let etcd = short_lived(5).await;
    let connect = || async { etcd.client().connect().await.unwrap() };
    // One client each, so that none profits from the token of another.
    let (get, update, list, lease, watch, count) =
        tokio::join!(connect(), connect(), connect(), connect(), connect(), connect());
    let written = create(&update, "/p/a", "1").await;
    sleep(Duration::from_secs(7)).await;
    assert_eq!(get.get(GetRequest::new("/p/a")).await.unwrap().head, written);
    assert_eq!(list.list(ListRequest::new("/p/")).await.unwrap().kvs.len(), 1);
    assert_eq!(count.count("/p/".into()).await.unwrap(), 1);
    let granted = lease.grant_lease(Duration::from_secs(60)).await.unwrap();
    assert_eq!(lease.lease_info(granted.id).await.unwrap().granted, Duration::from_secs(60));
    let mut watch = watch.watch(prefix(WatchGroup::new(), "/p/").from(written)).await.unwrap();
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
    let written =
        common::done(update.optimistic_put(PutRequest::update("/p/a", "2", written)).await.unwrap());
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
}

#[tokio::test]
async fn a_watch_resumes_with_a_new_token_and_loses_nothing() {
    let etcd = short_lived(5).await;
    let kv = etcd.client().connect().await.unwrap();
    let proxy = Proxy::to(etcd.address()).await.unwrap();
    let watching =
        EtcdKv::builder().endpoints([proxy.endpoint()]).user("root", "secret").connect().await.unwrap();
    let group = WatchGroup::new();
    let mut first = watching.watch(prefix(group, "/p/")).await.unwrap();
    let mut second = watching.watch(prefix(group, "/q/")).await.unwrap();
    create(&kv, "/p/a", "1").await;
    events(&mut first).await;
    proxy.cut();
    // While away the token expires, and something is written.
    let written = [put(&kv, "/p/a", "2").await, put(&kv, "/p/a", "3").await, put(&kv, "/q/a", "1").await];
    sleep(Duration::from_secs(7)).await;
    proxy.mend();
    let seen = common::gather(&mut first, 2).await;
    assert_eq!(seen.iter().map(|event| event.kv.mod_revision).collect::<Vec<_>>(), written[..2]);
    assert_eq!(events(&mut second).await[0].kv.mod_revision, written[2]);
    common::quiet(&mut first, 200).await;
}

#[tokio::test]
async fn a_new_watch_on_a_stream_with_an_expired_token_does_not_disturb_the_others() {
    let etcd = short_lived(5).await;
    let kv = etcd.client().connect().await.unwrap();
    let group = WatchGroup::new();
    let mut old = kv.watch(prefix(group, "/p/")).await.unwrap();
    sleep(Duration::from_secs(7)).await;
    // Nobody has renewed the token yet, and the stream was opened with it.
    let mut new = kv.watch(prefix(group, "/q/")).await.unwrap();
    let written = [create(&kv, "/p/a", "").await, create(&kv, "/q/a", "").await];
    assert_eq!(events(&mut old).await[0].kv.mod_revision, written[0]);
    assert_eq!(events(&mut new).await[0].kv.mod_revision, written[1]);
}

#[tokio::test]
async fn a_jwt_that_is_older_than_the_users_is_renewed_for_every_call() {
    // Nothing else is at hand that writes a key pair in the form that etcd wants for JWT; the TLS one will do.
    let authority = TestAuthority::new().unwrap();
    let signer = authority.server("jwt", ["jwt"]).unwrap();
    let token = format!(
        "--auth-token=jwt,pub-key={},priv-key={},sign-method=ES256,ttl=10m",
        signer.cert_file.display(),
        signer.key_file.display()
    );
    let etcd = EtcdSetup::new().args([token]).root("secret").start().await.unwrap();
    let kv = etcd.client().connect().await.unwrap();
    let proxy = Proxy::to(etcd.address()).await.unwrap();
    let watching =
        EtcdKv::builder().endpoints([proxy.endpoint()]).user("root", "secret").connect().await.unwrap();
    let mut written = create(&kv, "/p/a", "0").await;
    let mut admin = admin(&etcd).await;
    let group = WatchGroup::new();
    let mut watch = watching.watch(prefix(group, "/p/")).await.unwrap();
    let mut users = 0;
    // Each of these makes all tokens old.
    let mut add_user = async || {
        users += 1;
        // The client renews its own token for this one, but only for "invalid auth token".
        admin = self::admin(&etcd).await;
        admin.user_add(format!("user{users}"), "x", None).await.unwrap();
    };
    add_user().await;
    assert_eq!(kv.get(GetRequest::new("/p/a")).await.unwrap().head, written);
    add_user().await;
    written = common::done(kv.optimistic_put(PutRequest::update("/p/a", "1", written)).await.unwrap());
    add_user().await;
    assert_eq!(kv.list(ListRequest::new("/p/")).await.unwrap().kvs.len(), 1);
    add_user().await;
    kv.grant_lease(Duration::from_secs(60)).await.unwrap();
    add_user().await;
    let mut other = kv.watch(prefix(WatchGroup::new(), "/p/").from(written)).await.unwrap();
    assert_eq!(events(&mut other).await[0].kv.mod_revision, written);
    add_user().await;
    kv.status().await.unwrap();
    add_user().await;
    kv.compact(written).await.unwrap();
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
    proxy.cut();
    add_user().await;
    written = put(&kv, "/p/a", "2").await;
    proxy.mend();
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
}

#[tokio::test]
async fn a_wrong_password_is_one_clear_error_and_no_loop() {
    let etcd = short_lived(300).await;
    let begin = Instant::now();
    let error =
        EtcdKv::builder().endpoints([etcd.endpoint()]).user("root", "hunter2").connect().await.unwrap_err();
    assert_eq!((error.kind(), error.operation()), (KvErrorKind::Unauthenticated, "open"));
    assert!(error.to_string().contains("user root: wrong user or password"), "{error}");
    assert!(error.source().unwrap().to_string().contains("authentication failed"), "{error:?}");
    assert!(!format!("{error:?}").contains("hunter2"));
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!(failed_authentications(&etcd).await, 1.0);
}

async fn failed_authentications(etcd: &EtcdProcess) -> f64 {
    metric(
        etcd,
        "grpc_server_handled_total{grpc_code=\"InvalidArgument\",grpc_method=\"Authenticate\",\
         grpc_service=\"etcdserverpb.Auth\",grpc_type=\"unary\"}",
    )
    .await
}

#[tokio::test]
async fn a_password_changed_meanwhile_is_one_error_for_each_call_and_ends_watches_that_come_back() {
    let etcd = short_lived(300).await;
    let proxy = Proxy::to(etcd.address()).await.unwrap();
    let kv = EtcdKv::builder().endpoints([proxy.endpoint()]).user("root", "secret").connect().await.unwrap();
    let group = WatchGroup::new();
    let mut watch = kv.watch(prefix(group, "/p/")).await.unwrap();
    admin(&etcd).await.user_change_password("root", "other").await.unwrap();
    // All at once share one attempt, made with the password as it was.
    let reads = join_all((0..10).map(|_| kv.get(GetRequest::new("/p/a")))).await;
    for read in reads {
        let error = read.unwrap_err();
        assert_eq!(error.kind(), KvErrorKind::Unauthenticated);
        assert!(error.to_string().contains("user root"), "{error}");
    }
    let failed = failed_authentications(&etcd).await;
    assert!((1.0..=3.0).contains(&failed), "{failed}");
    let error = kv.optimistic_put(PutRequest::create("/p/a", "")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::Unauthenticated);
    let error = kv.watch(prefix(group, "/q/")).await.err().unwrap();
    assert_eq!(error.kind(), KvErrorKind::Unauthenticated);
    // The watch that was there is none the worse for it, until it has to come back.
    let other = EtcdKv::builder().endpoints([etcd.endpoint()]).user("root", "other").connect().await.unwrap();
    let written = create(&other, "/p/a", "").await;
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
    proxy.cut();
    proxy.mend();
    assert_eq!(next(&mut watch).await.unwrap_err().kind(), KvErrorKind::Unauthenticated);
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn what_a_role_does_not_allow_is_permission_denied_with_the_remedy() {
    let etcd = short_lived(300).await;
    let mut admin = admin(&etcd).await;
    admin.user_add("reader", "secret", None).await.unwrap();
    admin.role_add("pods").await.unwrap();
    let pods = Permission::new(PermissionType::Read, "/pods/").with_prefix();
    admin.role_grant_permission("pods", pods).await.unwrap();
    admin.user_grant_role("reader", "pods").await.unwrap();
    let kv = EtcdKv::builder().endpoints([etcd.endpoint()]).user("reader", "secret").connect().await.unwrap();
    assert!(kv.get(GetRequest::new("/pods/a")).await.unwrap().kv.is_none());
    let mut allowed = kv.watch(prefix(WatchGroup::new(), "/pods/")).await.unwrap();
    let group = WatchGroup::new();
    let before = authentications(&etcd).await;
    for error in [
        kv.get(GetRequest::new("/secrets/a")).await.unwrap_err(),
        kv.list(ListRequest::new("/secrets/")).await.unwrap_err(),
        kv.optimistic_put(PutRequest::create("/pods/a", "")).await.unwrap_err(),
        kv.watch(prefix(group, "/secrets/")).await.err().unwrap(),
        kv.compact(kubestore_kv::Revision(1)).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), KvErrorKind::PermissionDenied, "{error:?}");
        assert!(error.to_string().contains("grant it to one of the user's roles"), "{error}");
    }
    assert_eq!(authentications(&etcd).await, before, "a new token does not help");
    // Before 3.7 the status is not for this user either; then what is known from other answers is told.
    assert_eq!(kv.status().await.unwrap().head.0, 1);
    let root = etcd.client().connect().await.unwrap();
    let written = create(&root, "/pods/a", "").await;
    assert_eq!(events(&mut allowed).await[0].kv.mod_revision, written);
}

#[tokio::test]
async fn a_user_is_of_no_consequence_where_authentication_is_off_and_of_use_once_it_is_on() {
    let etcd = EtcdProcess::start().await.unwrap();
    let kv = EtcdKv::builder().endpoints([etcd.endpoint()]).user("root", "secret").connect().await.unwrap();
    create(&kv, "/p/a", "1").await;
    let mut plain = Client::connect([etcd.endpoint()], None).await.unwrap();
    plain.user_add("root", "secret", None).await.unwrap();
    plain.user_grant_role("root", "root").await.unwrap();
    plain.auth_enable().await.unwrap();
    assert!(kv.get(GetRequest::new("/p/a")).await.unwrap().kv.is_some());
    admin(&etcd).await.auth_disable().await.unwrap();
    assert!(kv.get(GetRequest::new("/p/a")).await.unwrap().kv.is_some());
}
