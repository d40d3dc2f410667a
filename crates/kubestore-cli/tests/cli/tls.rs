//! etcd over TLS and with users.

use std::sync::Arc;

use kubestore_etcd::testing::{EtcdSetup, TestAuthority};

use crate::command::{Kubestore, config_map};

#[tokio::test(flavor = "multi_thread")]
async fn certificates_and_users_are_given_as_to_etcdctl() {
    let authority = Arc::new(TestAuthority::new().unwrap());
    let server = authority.server("server", ["127.0.0.1"]).unwrap();
    let client = authority.client("root").unwrap();
    let (cert, key) = (client.cert_file.display().to_string(), client.key_file.display().to_string());
    let cacert = authority.ca_file().display().to_string();
    let etcd = EtcdSetup::new().mutual_tls(&authority, server, client).start().await.unwrap();
    let k = Kubestore::durable();
    let tls = format!("--endpoints {} --cacert {cacert} --cert {cert} --key {key}", etcd.endpoint());
    let file = k.file("a.yaml", &config_map("a", "1"));
    assert_eq!(k.run_without_store(&format!("apply -f {file} {tls}")).ok(), "configmap/a created\n");
    assert_eq!(k.run_without_store(&format!("get cm -o name {tls}")).ok(), "configmap/a\n");

    let variables = [
        ("ETCDCTL_ENDPOINTS", etcd.endpoint()),
        ("ETCDCTL_CACERT", cacert.clone()),
        ("ETCDCTL_CERT", cert.clone()),
        ("ETCDCTL_KEY", key),
    ];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(k.run_with_variables("get cm -o name", &variables).ok(), "configmap/a\n");
    // What is on the command line counts more.
    let error = k.run_with_variables("get cm --cacert none.pem --timeout 2s", &variables).error();
    assert!(error.contains("none.pem"), "{error}");
    let error = k
        .run_without_store(&format!("get cm --endpoints {} --cacert {cacert} --timeout 2s", etcd.endpoint()));
    assert!(error.error().contains(&etcd.endpoint()));
    let error = k.run_without_store(&format!("get cm --endpoints {} --cert {cert}", etcd.endpoint())).error();
    assert!(error.contains("key"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_asked_for_and_not_shown() {
    let etcd = EtcdSetup::new().root("hunter2").start().await.unwrap();
    let k = Kubestore::durable();
    let at = format!("--endpoints {}", etcd.endpoint());
    let file = k.file("a.yaml", &config_map("a", "1"));
    assert_eq!(
        k.run_without_store(&format!("apply -f {file} {at} --user root:hunter2")).ok(),
        "configmap/a created\n"
    );
    assert_eq!(
        k.run_without_store(&format!("get cm -o name {at} --user root --password hunter2")).ok(),
        "configmap/a\n"
    );
    let variables = [("ETCDCTL_USER", "root"), ("ETCDCTL_PASSWORD", "hunter2")];
    assert_eq!(k.run_with_variables(&format!("get cm -o name {at}"), &variables).ok(), "configmap/a\n");
    let wrong = k.run_without_store(&format!("get cm {at} --user root:hunter3")).error();
    assert!(!wrong.contains("hunter"), "{wrong}");
    let without = k.run_without_store(&format!("get cm {at} --user root")).error();
    assert!(without.contains("user root without a password; write name:password"), "{without}");
}

#[test]
fn options_of_an_etcd_need_one() {
    let k = Kubestore::durable();
    assert_eq!(
        k.run_without_store("get cm --cacert ca.pem").usage(),
        "--cacert is of an etcd; name its addresses with --endpoints"
    );
    assert_eq!(
        k.run("get cm --user root:hunter2").usage(),
        "--user is of an etcd, and --data-dir names none; leave one out"
    );
}
