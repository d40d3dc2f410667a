//! `kubestore encryption rewrap` on a store that is in use: others write, history is compacted, the command is killed.
//!
//! `KUBESTORE_SECRETS` says how many secrets there are; 600 by default, so that it takes seconds. `--nocapture` shows the
//! most memory that the command took.

use std::{
    collections::BTreeMap,
    env, fs,
    process::Child,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt, TryStreamExt, stream};
use kubestore::{
    Storage, StorageExt, Store, Stores,
    codec::{Unstructured, Value},
    core::{CreateOptions, UpdateOptions, Updated},
    etcd::EtcdKv,
    kv::{GetRequest, KeyValue, Kv, KvErrorKind, LeaseId, ListRequest, PutRequest},
    transform::{EncryptionConfig, ValueContext},
};
use kubestore_admin::{CensusOptions, census};

use crate::{
    command::Kubestore,
    rotation::{KEY1, KEY2, configuration, gcm, lines},
};

/// Every so manyth secret has a lease, and nobody changes it.
const LEASED: usize = 50;

/// The leases by key.
type Leases = BTreeMap<Vec<u8>, Option<LeaseId>>;

struct Scene {
    k: Kubestore,
    kv: EtcdKv,
    old: EncryptionConfig,
    new: EncryptionConfig,
    secrets: usize,
}

impl Scene {
    async fn new() -> Self {
        let k = Kubestore::etcd().await;
        let kv = EtcdKv::connect([k.storage()[1].clone()]).await.unwrap();
        configuration(&k, "old.yaml", &[&gcm(&[KEY1])]);
        configuration(&k, "new.yaml", &[&gcm(&[KEY2, KEY1])]);
        let config = |name: &str| EncryptionConfig::from_file(k.path(name)).unwrap();
        let (old, new) = (config("old.yaml"), config("new.yaml"));
        let secrets = env::var("KUBESTORE_SECRETS").map_or(600, |number| number.parse().unwrap());
        Self { k, kv, old, new, secrets }
    }

    fn store(&self, config: &EncryptionConfig) -> Store<Unstructured> {
        Stores::builder(self.kv.clone()).encryption(config.clone()).build().unstructured("secrets")
    }

    /// Secrets under the old key, some of them with a lease, and one whose bytes nobody understands.
    async fn fill(&self) -> BTreeMap<String, String> {
        let store = self.store(&self.old);
        let create = |number: usize| {
            let (key, store) = (format!("/secrets/ns/{number:06}"), store.clone());
            async move {
                let options = CreateOptions::default();
                let leased = number.is_multiple_of(LEASED);
                let options = if leased { options.with_ttl(3600) } else { options };
                store.create(&key, secret(&key, "first"), options).await?;
                Ok::<_, kubestore::StorageError>((!leased).then_some((key, "first".to_owned())))
            }
        };
        let created = stream::iter(0..self.secrets).map(create).buffer_unordered(32);
        let transformer = self.old.transformer_for("", "secrets");
        let context = ValueContext::new(UNKNOWN.as_bytes());
        let sealed = transformer.transform_to_storage(STRANGE.into(), context).await.unwrap();
        self.kv.optimistic_put(PutRequest::create(UNKNOWN, sealed)).await.unwrap();
        created.try_filter_map(async |made| Ok(made)).try_collect().await.unwrap()
    }

    async fn under_key2(&self) -> u64 {
        let census = census(&self.kv, "/registry", &CensusOptions::default()).await.unwrap();
        census.rows.iter().filter(|row| row.key_name.as_deref() == Some("key2")).map(|row| row.values).sum()
    }

    fn rewrap(&self) -> Child {
        self.k.start("encryption rewrap --encryption-config new.yaml")
    }
}

const UNKNOWN: &str = "/registry/secrets/ns/unknown";
const STRANGE: &[u8] = b"k8s\0\x0a\x04\x0a\x02v9\x12\x06\xfa\x7f\x03\xff\xfe\x00\x99\x01\x00";

fn secret(key: &str, value: &str) -> Unstructured {
    let name = key.rsplit('/').next().unwrap();
    let mut secret = Unstructured::new("v1", "Secret", "ns", name);
    secret.insert("data".to_owned(), Value::from(value));
    secret
}

/// Another client, which creates, updates and deletes at random until it is told to stop.
async fn write(
    store: Store<Unstructured>,
    mut model: BTreeMap<String, String>,
    stop: Arc<AtomicBool>,
) -> BTreeMap<String, String> {
    let mut dice = 7_u64;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(dice >> 33).unwrap() % sides
    };
    let mut step = 0;
    while !stop.load(Ordering::Relaxed) {
        step += 1;
        let key = model.keys().nth(roll(model.len())).unwrap().clone();
        match roll(4) {
            0 => {
                let (key, value) = (format!("/secrets/ns/new-{step:06}"), format!("created by {step}"));
                store.create(&key, secret(&key, &value), CreateOptions::default()).await.unwrap();
                model.insert(key, value);
            }
            1 => {
                let deleted = store.remove(&key).await.unwrap();
                assert_eq!(deleted.get("data").unwrap().as_str(), model.remove(&key).as_deref(), "{key}");
            }
            _ => {
                let (known, value) = (model[&key].clone(), format!("edited by {step}"));
                let mut edit = |current: Option<Unstructured>, _| {
                    let mut current = current.unwrap();
                    assert_eq!(
                        current.get("data").unwrap().as_str(),
                        Some(known.as_str()),
                        "an edit was undone"
                    );
                    current.insert("data".to_owned(), Value::from(value.as_str()));
                    Ok(Updated::new(current))
                };
                store.guaranteed_update(&key, UpdateOptions::default(), &mut edit, None).await.unwrap();
                model.insert(key, value);
            }
        }
    }
    model
}

async fn compact(kv: EtcdKv, every: Duration, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        let head = kv.get(GetRequest::new("/")).await.unwrap().head;
        if let Err(error) = kv.compact(head).await {
            assert_eq!(error.kind(), KvErrorKind::Compacted, "{error}");
        }
        tokio::time::sleep(every).await;
    }
}

/// The most memory that a process has taken so far, in KiB.
fn most_memory(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_in_use_is_rewrapped_by_a_command_that_is_killed_once() {
    let scene = Scene::new().await;
    let mut model = scene.fill().await;
    let leases: Leases = stored(&scene.kv).await.into_iter().map(|kv| (kv.key.to_vec(), kv.lease)).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn(write(scene.store(&scene.new), model, Arc::clone(&stop)));
    // As often for each pass as in a large store.
    let every = if scene.secrets < 10_000 { Duration::from_millis(50) } else { Duration::from_secs(2) };
    let compacting = tokio::spawn(compact(scene.kv.clone(), every, Arc::clone(&stop)));

    let mut command = scene.rewrap();
    while scene.under_key2().await < scene.secrets as u64 / 3 {
        assert!(command.try_wait().unwrap().is_none(), "it came to its end unkilled");
    }
    command.kill().unwrap();
    command.wait().unwrap();
    let mut command = scene.rewrap();
    let mut memory = 0;
    while command.try_wait().unwrap().is_none() {
        memory = most_memory(&command).unwrap_or_default().max(memory);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop.store(true, Ordering::Relaxed);
    model = writing.await.unwrap();
    compacting.await.unwrap();
    let output = command.wait_with_output().unwrap();
    let report = lines(&String::from_utf8(output.stdout).unwrap());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{report:?}");
    println!("{memory} KiB at most; {report:?}");
    assert!((1..200_000).contains(&memory), "{memory} KiB");

    check(&scene, model, &leases).await;
    let again = scene.k.run("encryption rewrap --encryption-config new.yaml").ok();
    assert_eq!(again.lines().last(), Some("0 rewritten"));
    scene.k.run("encryption verify --current --encryption-config key2.yaml").ok();
}

/// No edit is lost or undone, nothing deleted is back, and all is under the new key.
async fn check(scene: &Scene, mut model: BTreeMap<String, String>, leases: &Leases) {
    configuration(&scene.k, "key2.yaml", &[&gcm(&[KEY2])]);
    let key2_only = EncryptionConfig::from_file(scene.k.path("key2.yaml")).unwrap();
    let store = scene.store(&key2_only);
    let mut others = 0;
    for kv in stored(&scene.kv).await {
        let key = std::str::from_utf8(&kv.key).unwrap();
        let key = key.strip_prefix("/registry").unwrap();
        match model.remove(key) {
            Some(value) => {
                let found = store.read(key).await.unwrap();
                assert_eq!(found.get("data").unwrap().as_str(), Some(value.as_str()), "{key}");
            }
            None => {
                others += 1;
                assert_eq!(kv.lease, leases[&*kv.key], "{key}");
            }
        }
    }
    assert_eq!(model, BTreeMap::new(), "lost");
    assert_eq!(others, scene.secrets.div_ceil(LEASED) + 1, "nothing but what nobody touched");
    let strange = scene.kv.get(GetRequest::new(UNKNOWN)).await.unwrap().kv.unwrap();
    let transformer = key2_only.transformer_for("", "secrets");
    let opened =
        transformer.transform_from_storage(strange.value, ValueContext::new(UNKNOWN.as_bytes())).await;
    assert_eq!(opened.unwrap().data, STRANGE);
}

async fn stored(kv: &EtcdKv) -> Vec<KeyValue> {
    kv.list(ListRequest::new("/registry/")).await.unwrap().kvs
}
