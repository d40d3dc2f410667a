//! TLS: certificates that are good, and every way in which they are not.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![cfg(any(feature = "tls", feature = "tls-aws-lc"))]

mod common;

use std::{error::Error, fs, path::Path, sync::Arc, time::Duration};

use common::{create, events, next, prefix};
use kubestore_etcd::{
    EtcdKv, EtcdKvBuilder, TlsOptions,
    testing::{EtcdProcess, EtcdSetup, TestAuthority},
};
use kubestore_kv::{GetRequest, Kv, KvError, KvErrorKind, WatchGroup};
use tokio::time::Instant;

/// An etcd that shows a certificate for its address, and wants one of the same authority.
async fn mutual() -> (Arc<TestAuthority>, EtcdProcess) {
    let authority = Arc::new(TestAuthority::new().unwrap());
    let server = authority.server("server", ["127.0.0.1"]).unwrap();
    let client = authority.client("client").unwrap();
    let etcd = EtcdSetup::new().mutual_tls(&authority, server, client).start().await.unwrap();
    (authority, etcd)
}

fn with(etcd: &EtcdProcess, tls: TlsOptions) -> EtcdKvBuilder {
    EtcdKv::builder().endpoints([etcd.endpoint()]).tls(tls).dial_timeout(Duration::from_secs(10))
}

/// The error of connecting, which must come at once: waiting does not mend a certificate.
async fn refused(builder: EtcdKvBuilder) -> KvError {
    let begin = Instant::now();
    let error = builder.connect().await.unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}: {error:?}", begin.elapsed());
    assert_eq!(error.operation(), "open");
    error
}

/// What a user would read: every part of the chain, of which none repeats another.
fn chain(error: &KvError) -> String {
    let mut parts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        assert!(
            !parts.iter().any(|part| part.contains(&cause.to_string())),
            "{cause} is said twice: {parts:?}"
        );
        parts.push(cause.to_string());
        next = cause.source();
    }
    parts.join(": ")
}

#[track_caller]
fn says(error: &KvError, kind: KvErrorKind, parts: &[&str]) {
    assert_eq!(error.kind(), kind, "{error:?}");
    let said = chain(error);
    for part in parts {
        assert!(said.contains(part), "{part:?} is not in: {said}");
    }
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
async fn a_certificate_for_an_address_works_with_calls_and_watches() {
    let (_authority, etcd) = mutual().await;
    assert!(etcd.endpoint().starts_with("https://127.0.0.1:"));
    let kv = etcd.client().connect().await.unwrap();
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    let written = create(&kv, "/p/a", vec![7; 1_000_000]).await;
    let seen = events(&mut watch).await;
    assert_eq!((seen[0].kv.mod_revision, seen[0].kv.value.len()), (written, 1_000_000));
    // An endpoint without a scheme is https where there are TLS options.
    let client = etcd.address().to_owned();
    let authority = _authority;
    let identity = authority.client("other").unwrap();
    let tls = TlsOptions::new().ca_file(authority.ca_file()).identity(identity.cert_file, identity.key_file);
    let kv = EtcdKv::builder().endpoints([client]).tls(tls).connect().await.unwrap();
    assert!(kv.get(GetRequest::new("/p/a")).await.unwrap().kv.is_some());
}

#[tokio::test]
async fn a_certificate_for_another_name_works_with_the_server_name_only() {
    let authority = Arc::new(TestAuthority::new().unwrap());
    let server = authority.server("server", ["etcd.local"]).unwrap();
    let etcd = EtcdSetup::new().tls(&authority, server).start().await.unwrap();
    let tls = TlsOptions::new().ca_file(authority.ca_file());
    let error = refused(with(&etcd, tls.clone())).await;
    let names = ["is not for 127.0.0.1", "etcd.local", "set the server name", &etcd.endpoint()];
    says(&error, KvErrorKind::Unauthenticated, &names);
    let kv = with(&etcd, tls.clone().server_name("etcd.local")).connect().await.unwrap();
    create(&kv, "/a", "").await;
    let error = refused(with(&etcd, tls.server_name("no name"))).await;
    says(&error, KvErrorKind::InvalidArgument, &["\"no name\""]);
}

#[tokio::test]
async fn an_expired_certificate_is_told_as_such() {
    let authority = Arc::new(TestAuthority::new().unwrap());
    let server = authority.expired_server("server", ["127.0.0.1"]).unwrap();
    let etcd = EtcdSetup::new().tls(&authority, server).start().await.unwrap();
    let error = refused(with(&etcd, TlsOptions::new().ca_file(authority.ca_file()))).await;
    says(
        &error,
        KvErrorKind::Unauthenticated,
        &["has expired; renew it", &etcd.endpoint(), "certificate expired"],
    );
    // Whoever asks for it gets a connection all the same.
    let kv = with(&etcd, TlsOptions::new().skip_verify(true)).connect().await.unwrap();
    create(&kv, "/a", "").await;
}

#[tokio::test]
async fn another_authority_is_told_with_its_file() {
    let (authority, etcd) = mutual().await;
    let other = TestAuthority::new().unwrap();
    let client = authority.client("again").unwrap();
    let tls = |ca: &TestAuthority| {
        TlsOptions::new().ca_file(ca.ca_file()).identity(&client.cert_file, &client.key_file)
    };
    let error = refused(with(&etcd, tls(&other))).await;
    says(&error, KvErrorKind::Unauthenticated, &[&etcd.endpoint(), shown(&other.ca_file()), "authority"]);
    with(&etcd, tls(&authority)).connect().await.unwrap();
    // No CA file at all: the system does not know the authority either.
    let error = refused(EtcdKv::builder().endpoints([etcd.endpoint()])).await;
    assert!(
        chain(&error).contains("name the cluster's CA file") || chain(&error).contains("name the CA file"),
        "{error}"
    );
}

#[tokio::test]
async fn a_missing_client_certificate_and_a_foreign_one_are_told_apart() {
    let (authority, etcd) = mutual().await;
    let trusting = TlsOptions::new().ca_file(authority.ca_file());
    let error = refused(with(&etcd, trusting.clone())).await;
    says(
        &error,
        KvErrorKind::Unauthenticated,
        &[&etcd.endpoint(), "wants a client certificate and none is given"],
    );
    let other = TestAuthority::new().unwrap();
    let foreign = other.client("client").unwrap();
    let error = refused(with(&etcd, trusting.identity(&foreign.cert_file, &foreign.key_file))).await;
    let parts = [&etcd.endpoint(), "refused the client certificate", shown(&foreign.cert_file)];
    says(&error, KvErrorKind::Unauthenticated, &parts);
}

#[tokio::test]
async fn plain_endpoints_and_tls_options_do_not_go_together() {
    let (authority, etcd) = mutual().await;
    let tls = TlsOptions::new().ca_file(authority.ca_file());
    let plain = format!("http://{}", etcd.address());
    let error = refused(EtcdKv::builder().endpoints([plain.clone()]).tls(tls.clone())).await;
    says(&error, KvErrorKind::InvalidArgument, &[&plain, shown(&authority.ca_file()), "write https"]);
    // Plain bytes to a server that wants TLS: nothing is found out, but the question is asked.
    let builder = EtcdKv::builder().endpoints([plain.clone()]).dial_timeout(Duration::from_millis(300));
    says(&builder.connect().await.unwrap_err(), KvErrorKind::Unavailable, &[&plain, "http or https"]);
    // And TLS to a server that does not speak it.
    let without = EtcdProcess::start().await.unwrap();
    let builder = EtcdKv::builder()
        .endpoints([format!("https://{}", without.address())])
        .tls(tls)
        .dial_timeout(Duration::from_millis(300));
    says(&builder.connect().await.unwrap_err(), KvErrorKind::Unavailable, &["https://", without.address()]);
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named() {
    let (authority, etcd) = mutual().await;
    let client = authority.client("client").unwrap();
    let other = authority.client("other").unwrap();
    let folder = authority.folder();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let pem = fs::read(&client.cert_file).unwrap();
    let (empty, cut) = (file("empty", b""), file("cut", &pem[..pem.len() / 2]));
    let missing = folder.join("missing");
    let good = || TlsOptions::new().ca_file(authority.ca_file());
    for (tls, parts) in [
        (TlsOptions::new().ca_file(&missing), ["CA file", shown(&missing), "cannot be read"]),
        (TlsOptions::new().ca_file(folder), ["CA file", shown(folder), "cannot be read"]),
        (TlsOptions::new().ca_file(&empty), ["CA file", shown(&empty), "no certificate in it"]),
        (TlsOptions::new().ca_file(&cut), ["CA file", shown(&cut), "PEM"]),
        (good().identity(&cut, &client.key_file), ["certificate file", shown(&cut), "PEM"]),
        (good().identity(&client.cert_file, &empty), ["key file", shown(&empty), "no usable private key"]),
        (
            good().identity(&client.cert_file, &client.cert_file),
            ["key file", shown(&client.cert_file), "no usable private key"],
        ),
        (
            good().identity(&client.cert_file, &other.key_file),
            [shown(&other.key_file), "not the key of the certificate in", shown(&client.cert_file)],
        ),
    ] {
        says(&refused(with(&etcd, tls)).await, KvErrorKind::InvalidArgument, &parts);
    }
    let mut alone = good();
    alone.cert_file = Some(client.cert_file.clone());
    let error = refused(with(&etcd, alone)).await;
    says(&error, KvErrorKind::InvalidArgument, &[shown(&client.cert_file), "without its key"]);
}

#[tokio::test]
async fn files_that_change_are_read_again_for_the_next_connection() {
    let (authority, mut etcd) = mutual().await;
    let folder = authority.folder().to_owned();
    let identity = authority.client("rotated").unwrap();
    let ca = folder.join("trusted.pem");
    fs::copy(authority.ca_file(), &ca).unwrap();
    let tls = TlsOptions::new().ca_file(&ca).identity(&identity.cert_file, &identity.key_file);
    let kv = with(&etcd, tls).connect().await.unwrap();
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/")).await.unwrap();
    create(&kv, "/p/a", "").await;
    events(&mut watch).await;

    // Everything is from another authority from now on; the files are the same.
    let next_authority = TestAuthority::new().unwrap();
    for (name, made) in [
        ("server", next_authority.server("server", ["127.0.0.1"]).unwrap()),
        ("client", next_authority.client("client").unwrap()),
        ("rotated", next_authority.client("rotated").unwrap()),
    ] {
        fs::copy(&made.cert_file, folder.join(format!("{name}.pem"))).unwrap();
        fs::copy(&made.key_file, folder.join(format!("{name}.key"))).unwrap();
    }
    fs::copy(next_authority.ca_file(), authority.ca_file()).unwrap();
    // Read in the middle of it: the earlier ones go on being used.
    fs::write(&ca, "half a fi").unwrap();
    assert!(kv.get(GetRequest::new("/p/a")).await.unwrap().kv.is_some());
    fs::copy(next_authority.ca_file(), &ca).unwrap();
    etcd.restart().await.unwrap();
    assert!(kv.get(GetRequest::new("/p/a")).await.unwrap().kv.is_some());
    let written = create(&kv, "/p/b", "").await;
    assert_eq!(events(&mut watch).await[0].kv.mod_revision, written);
}

#[tokio::test]
async fn an_endpoint_that_is_not_trusted_does_not_stand_in_the_way_of_one_that_is() {
    let (authority, etcd) = mutual().await;
    let stranger = Arc::new(TestAuthority::new().unwrap());
    let server = stranger.server("server", ["127.0.0.1"]).unwrap();
    let other = EtcdSetup::new().tls(&stranger, server).start().await.unwrap();
    let client = authority.client("client").unwrap();
    let tls = TlsOptions::new().ca_file(authority.ca_file()).identity(&client.cert_file, &client.key_file);
    let kv =
        EtcdKv::builder().endpoints([other.endpoint(), etcd.endpoint()]).tls(tls).connect().await.unwrap();
    create(&kv, "/p/a", "").await;
    let mut watch = kv.watch(prefix(WatchGroup::new(), "/p/").from(kubestore_kv::Revision(1))).await.unwrap();
    assert!(next(&mut watch).await.is_ok());
}
