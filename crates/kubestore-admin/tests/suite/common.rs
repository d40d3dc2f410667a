//! What the tests share: configurations, and short ways to store and read values.

use std::sync::Arc;

use bytes::Bytes;
use kubestore_embedded::Embedded;
use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::{GetRequest, KeyValue, Kv, ListRequest, PutRequest, Revision, WriteOutcome};
use kubestore_transform::{EncryptionConfig, ValueContext};

/// Providers as a configuration has them.
pub(crate) const KEY1: &str = "{name: key1, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}";
pub(crate) const KEY2: &str = "{name: key2, secret: Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=}";
/// The name of `KEY1` with another secret.
pub(crate) const FALSE_KEY1: &str = "{name: key1, secret: ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=}";
pub(crate) const IDENTITY: &str = "identity: {}";

/// What every value has in it, to be searched for where it must not be.
pub(crate) const CANARY: &str = "canary-in-the-value";

pub(crate) fn gcm(keys: &[&str]) -> String {
    format!("aesgcm: {{keys: [{}]}}", keys.join(", "))
}

pub(crate) fn cbc(keys: &[&str]) -> String {
    format!("aescbc: {{keys: [{}]}}", keys.join(", "))
}

pub(crate) fn secretbox(keys: &[&str]) -> String {
    format!("secretbox: {{keys: [{}]}}", keys.join(", "))
}

/// A configuration for secrets.
pub(crate) fn config(providers: &[&str]) -> EncryptionConfig {
    rules(&[("secrets", providers)])
}

/// A configuration of several rules.
pub(crate) fn rules(rules: &[(&str, &[&str])]) -> EncryptionConfig {
    let mut text =
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n".to_owned();
    for (resources, providers) in rules {
        text += &format!("- resources: [{resources}]\n  providers:\n");
        for provider in *providers {
            text += &format!("  - {provider}\n");
        }
    }
    EncryptionConfig::from_str(&text.replace("[*.*]", "['*.*']"), "test").unwrap()
}

/// A backend, and the process behind it if there is one.
pub(crate) struct Backend {
    pub(crate) kv: Arc<dyn Kv>,
    _etcd: Option<EtcdProcess>,
    _directory: Option<tempfile::TempDir>,
}

impl Backend {
    pub(crate) fn memory() -> Self {
        Self { kv: Arc::new(Embedded::in_memory()), _etcd: None, _directory: None }
    }

    pub(crate) async fn durable() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let kv = Embedded::open(directory.path().join("data")).await.unwrap();
        Self { kv: Arc::new(kv), _etcd: None, _directory: Some(directory) }
    }

    pub(crate) async fn etcd() -> Self {
        let etcd = EtcdProcess::start().await.unwrap();
        let kv = EtcdKv::connect([etcd.endpoint()]).await.unwrap();
        Self { kv: Arc::new(kv), _etcd: Some(etcd), _directory: None }
    }
}

/// The sealed form of a value of a secret.
pub(crate) async fn seal(config: &EncryptionConfig, key: &str, plain: &Bytes) -> Bytes {
    let transformer = config.transformer_for("", "secrets");
    transformer.transform_to_storage(plain.clone(), ValueContext::new(key.as_bytes())).await.unwrap()
}

/// What is in a value of a secret.
pub(crate) async fn open(config: &EncryptionConfig, kv: &KeyValue) -> Bytes {
    let transformer = config.transformer_for("", "secrets");
    transformer.transform_from_storage(kv.value.clone(), ValueContext::new(&kv.key)).await.unwrap().data
}

pub(crate) async fn put(kv: &dyn Kv, key: &str, value: impl Into<Bytes>) -> Revision {
    done(kv.optimistic_put(PutRequest::create(key.to_owned(), value)).await.unwrap())
}

pub(crate) async fn put_sealed(kv: &dyn Kv, config: &EncryptionConfig, key: &str, plain: impl Into<Bytes>) {
    let sealed = seal(config, key, &plain.into()).await;
    put(kv, key, sealed).await;
}

pub(crate) fn done(outcome: WriteOutcome) -> Revision {
    match outcome {
        WriteOutcome::Done { revision } => revision,
        other => panic!("the write did not happen: {other:?}"),
    }
}

pub(crate) async fn get(kv: &dyn Kv, key: &str) -> Option<KeyValue> {
    kv.get(GetRequest::new(key.to_owned())).await.unwrap().kv
}

pub(crate) async fn all(kv: &dyn Kv) -> Vec<KeyValue> {
    kv.list(ListRequest::new("/registry/")).await.unwrap().kvs
}

pub(crate) async fn head(kv: &dyn Kv) -> Revision {
    kv.get(GetRequest::new("/")).await.unwrap().head
}

pub(crate) fn secret(number: usize) -> String {
    format!(r#"{{"kind":"Secret","data":"{CANARY}-{number}"}}"#)
}

/// `count` secrets `/registry/secrets/ns/0`, ….
pub(crate) async fn put_secrets(kv: &dyn Kv, config: &EncryptionConfig, count: usize) -> Vec<String> {
    let mut keys = Vec::new();
    for number in 0..count {
        let key = format!("/registry/secrets/ns/{number:05}");
        put_sealed(kv, config, &key, secret(number)).await;
        keys.push(key);
    }
    keys
}
