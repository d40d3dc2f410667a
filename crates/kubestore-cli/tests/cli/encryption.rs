//! Encryption at rest, and what the errors about it say and do not say.

use kubestore::{
    embedded::Embedded,
    kv::{GetRequest, KeyValue, Kv, PutRequest, WriteOutcome},
};

use crate::command::Kubestore;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER_KEY: &str = "ISEhISEhISEhISEhISEhISEhISEhISEhISEhISEhISE=";
const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n";

/// A configuration that writes secrets with the first of these keys.
fn configuration(keys: &[(&str, &str)]) -> String {
    let keys: Vec<_> =
        keys.iter().map(|(name, secret)| format!("{{name: {name}, secret: {secret}}}")).collect();
    format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  \
         providers:\n  - aesgcm: {{keys: [{}]}}\n  - identity: {{}}\n",
        keys.join(", ")
    )
}

/// A store with an encrypted secret, and the flag that opens it.
fn with_secret() -> (Kubestore, String) {
    let k = Kubestore::durable();
    let file = k.file("encryption.yaml", &configuration(&[("key1", KEY)]));
    let flag = format!("--encryption-config={file}");
    k.run_words(&["apply", "-f", "-", &flag], SECRET).ok();
    (k, flag)
}

async fn raw(k: &Kubestore, key: &str) -> KeyValue {
    let engine = Embedded::open(k.data()).await.unwrap();
    let found = engine.get(GetRequest::new(key.to_owned())).await.unwrap().kv.unwrap();
    engine.close().await;
    found
}

async fn write(k: &Kubestore, request: PutRequest) {
    let engine = Embedded::open(k.data()).await.unwrap();
    assert!(matches!(engine.optimistic_put(request).await.unwrap(), WriteOutcome::Done { .. }));
    engine.close().await;
}

/// Runs a failing command, and looks that no secret is told.
#[track_caller]
fn error(k: &Kubestore, line: &str) -> String {
    let error = k.run(line).error();
    for secret in ["hunter2", "aHVudGVyMg", KEY, OTHER_KEY, "AAECAwQF"] {
        assert!(!error.contains(secret), "{error}");
    }
    error
}

#[tokio::test]
async fn values_are_encrypted_where_an_api_server_keeps_them() {
    let (k, flag) = with_secret();
    let stored = raw(&k, "/registry/secrets/default/s").await;
    assert!(stored.value.starts_with(b"k8s:enc:aesgcm:v1:key1:"), "{stored:?}");
    assert!(k.run(&format!("get secret s -o yaml {flag}")).ok().contains("password: aHVudGVyMg=="));
    assert_eq!(k.run(&format!("count secrets {flag}")).ok(), "1\n");
    k.run_words(&["apply", "-f", "-", &flag], "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n").ok();
    let node = raw(&k, "/registry/minions/n1").await;
    assert!(node.value.starts_with(b"k8s\0\x0a\x0a\x0a\x02v1\x12\x04Node"), "{node:?}");
}

#[tokio::test]
async fn a_new_first_key_is_used_by_the_next_apply() {
    let (k, _) = with_secret();
    let file = k.file("rotated.yaml", &configuration(&[("key2", OTHER_KEY), ("key1", KEY)]));
    let flag = format!("--encryption-config={file}");
    assert_eq!(k.run_words(&["apply", "-f", "-", &flag], SECRET).ok(), "secret/s unchanged\n");
    let stored = raw(&k, "/registry/secrets/default/s").await;
    assert!(stored.value.starts_with(b"k8s:enc:aesgcm:v1:key2:"), "{stored:?}");
}

#[test]
fn a_missing_or_wrong_key_is_named() {
    let (k, _) = with_secret();
    let without = error(&k, "get secret s");
    assert!(without.starts_with("secret/s: get of /registry/secrets/default/s: "), "{without}");
    assert!(without.contains("key \"key1\"") && without.contains("only identity is configured"), "{without}");
    let file = k.file("other.yaml", &configuration(&[("key2", OTHER_KEY)]));
    let unknown = error(&k, &format!("get secrets --encryption-config {file}"));
    assert!(unknown.contains("key \"key1\"") && unknown.contains("configured: key2"), "{unknown}");
    let file = k.file("wrong.yaml", &configuration(&[("key1", OTHER_KEY)]));
    let wrong = error(&k, &format!("get secrets -o json --encryption-config {file}"));
    assert!(wrong.contains("authentication failed"), "{wrong}");
}

#[test]
fn a_bad_configuration_is_named_by_its_field() {
    let (k, _) = with_secret();
    let file = k.file("short.yaml", &configuration(&[("key1", "AAECAwQF")]));
    let short = error(&k, &format!("get secrets --encryption-config {file}"));
    assert!(short.contains("resources[0].providers[0].aesgcm.keys[0].secret"), "{short}");
    assert!(short.contains("has 6 bytes, aesgcm takes 16, 24 or 32"), "{short}");
    let missing = error(&k, "get secrets --encryption-config missing.yaml");
    assert_eq!(
        missing,
        "encryption configuration missing.yaml: cannot be read; check its path and permissions: No such file or directory \
         (os error 2)"
    );
    let file = k.file("broken.yaml", "kind: EncryptionConfiguration\n resources: [\n");
    assert!(error(&k, &format!("get secrets --encryption-config {file}")).contains("not valid YAML or JSON"));
}

#[tokio::test]
async fn a_flipped_bit_and_a_moved_value_do_not_open() {
    let (k, flag) = with_secret();
    let stored = raw(&k, "/registry/secrets/default/s").await;
    write(&k, PutRequest::create("/registry/secrets/default/moved", stored.value.clone())).await;
    let moved = error(&k, &format!("get secret moved {flag}"));
    assert!(
        moved.contains("/registry/secrets/default/moved") && moved.contains("authentication failed"),
        "{moved}"
    );
    let mut flipped = stored.value.to_vec();
    *flipped.last_mut().unwrap() ^= 1;
    write(&k, PutRequest::update("/registry/secrets/default/s", flipped.clone(), stored.mod_revision)).await;
    let get = error(&k, &format!("get secret s {flag}"));
    assert!(get.contains("authentication failed"), "{get}");
    // Nothing writes over what cannot be read.
    k.file("secret.yaml", SECRET);
    assert!(error(&k, &format!("apply -f secret.yaml {flag}")).contains("authentication failed"));
    assert!(error(&k, &format!("delete secret s {flag}")).contains("authentication failed"));
    assert_eq!(raw(&k, "/registry/secrets/default/s").await.value, flipped);
}

#[tokio::test]
async fn a_value_in_another_encoding_is_called_by_its_name() {
    let k = Kubestore::durable();
    k.apply("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n");
    write(&k, PutRequest::create("/registry/pods/default/p", b"k8s\0\x0a\x02v1".as_slice())).await;
    let protobuf = k.run("get pod p").error();
    assert!(protobuf.starts_with("pod/p: get of /registry/pods/default/p: "), "{protobuf}");
    assert!(protobuf.contains("protobuf"), "{protobuf}");
}
