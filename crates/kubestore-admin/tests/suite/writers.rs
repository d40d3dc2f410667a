//! A re-encryption while others write, with compactions, stopped in the middle and done again.
//!
//! `KUBESTORE_SECRETS` says how many values there are; 2,000 by default.

use std::{
    collections::BTreeMap,
    env,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use kubestore_admin::{CensusOptions, CensusRow, RewrapOptions, VerifyOptions, census, rewrap, verify};
use kubestore_kv::{DeleteRequest, Kv, KvErrorKind, LeaseId, PutRequest, WriteOutcome};
use kubestore_transform::EncryptionConfig;
use tokio::sync::Notify;

use crate::common::{Backend, IDENTITY, KEY1, KEY2, all, config, gcm, get, head, open, put_sealed, seal};

const LEASED: u64 = 50;

fn number_of_secrets() -> u64 {
    env::var("KUBESTORE_SECRETS").map_or(2000, |text| text.parse().unwrap())
}

/// Somebody who edits, creates and deletes at random, as an API server does: on condition, and again if it does not hold.
struct Client {
    kv: Arc<dyn Kv>,
    config: EncryptionConfig,
    /// What is there, as far as this client made it so.
    model: BTreeMap<String, String>,
    dice: u64,
}

impl Client {
    fn roll(&mut self, sides: u64) -> u64 {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % sides
    }

    async fn act(&mut self, step: u64) {
        let number = self.roll(self.model.len() as u64 + 1);
        let known = self.model.keys().nth(usize::try_from(number).unwrap()).cloned();
        match (self.roll(4), known) {
            (0, _) | (_, None) => {
                let key = format!("/registry/secrets/new/{step:06}");
                let plain = format!("{{\"created\":{step}}}");
                put_sealed(&self.kv, &self.config, &key, plain.clone()).await;
                self.model.insert(key, plain);
            }
            (1, Some(key)) => {
                self.delete(&key).await;
                self.model.remove(&key);
            }
            (_, Some(key)) => {
                let plain = self.edit(&key, step).await;
                self.model.insert(key, plain);
            }
        }
    }

    /// Changes what it finds, so that what was lost before stays lost, and what was undone shows.
    async fn edit(&self, key: &str, step: u64) -> String {
        loop {
            let current = get(&self.kv, key).await.unwrap();
            let plain = open(&self.config, &current).await;
            assert_eq!(plain, self.model[key], "{key} before step {step}");
            let edited = format!("{{\"edited\":{step},\"length\":{}}}", plain.len());
            let sealed = seal(&self.config, key, &edited.clone().into()).await;
            let put =
                PutRequest::update(key.to_owned(), sealed, current.mod_revision).with_lease(current.lease);
            if let WriteOutcome::Done { .. } = self.kv.optimistic_put(put).await.unwrap() {
                return edited;
            }
        }
    }

    async fn delete(&self, key: &str) {
        loop {
            let current = get(&self.kv, key).await.unwrap();
            let delete = DeleteRequest::new(key.to_owned(), current.mod_revision);
            if let WriteOutcome::Done { .. } = self.kv.optimistic_delete(delete).await.unwrap() {
                return;
            }
        }
    }
}

/// Compacts everything, again and again.
async fn compact(kv: &dyn Kv, stop: &AtomicBool) -> u64 {
    let mut compacted = 0;
    while !stop.load(Ordering::Relaxed) {
        match kv.compact(head(kv).await).await {
            Ok(()) => compacted += 1,
            Err(error) => assert_eq!(error.kind(), KvErrorKind::Compacted, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    compacted
}

/// Secrets under the old key, some of them with a lease.
async fn store(kv: &dyn Kv, old: &EncryptionConfig, lease: LeaseId) -> BTreeMap<String, String> {
    let mut model = BTreeMap::new();
    for number in 0..number_of_secrets() {
        let (key, plain) = (format!("/registry/secrets/ns/{number:06}"), format!("{{\"number\":{number}}}"));
        let sealed = seal(old, &key, &plain.clone().into()).await;
        let leased = number.is_multiple_of(LEASED).then_some(lease);
        kv.optimistic_put(PutRequest::create(key.clone(), sealed).with_lease(leased)).await.unwrap();
        model.insert(key, plain);
    }
    model
}

/// Begins a re-encryption and stops it without any warning when it has written so many values.
async fn interrupted(kv: &dyn Kv, new: &EncryptionConfig, values: u64) {
    let (written, enough) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
    let options = RewrapOptions::default().on_progress({
        let (written, enough) = (Arc::clone(&written), Arc::clone(&enough));
        move |progress| {
            if written.fetch_max(progress.written, Ordering::Relaxed) >= values {
                enough.notify_one();
            }
        }
    });
    tokio::select! {
        biased;
        () = enough.notified() => {}
        report = rewrap(kv, "/registry", new, &options) => panic!("it was not stopped: {report:?}"),
    }
    assert!(written.load(Ordering::Relaxed) < number_of_secrets());
}

/// No edit is lost or undone, nothing deleted is back, and all is under the new key.
async fn check(kv: &dyn Kv, model: &BTreeMap<String, String>, lease: LeaseId) {
    let key2_only = config(&[&gcm(&[KEY2])]);
    let mut stored = BTreeMap::new();
    for kv in all(kv).await {
        let key = String::from_utf8(kv.key.to_vec()).unwrap();
        let number = key.strip_prefix("/registry/secrets/ns/").and_then(|number| number.parse::<u64>().ok());
        let leased = number.is_some_and(|number| number.is_multiple_of(LEASED));
        assert_eq!(kv.lease, leased.then_some(lease), "{key}");
        let plain = open(&key2_only, &kv).await;
        stored.insert(key, String::from_utf8(plain.to_vec()).unwrap());
    }
    assert_eq!(&stored, model);
    let census = census(kv, "/registry", &CensusOptions::default()).await.unwrap();
    assert_eq!(census.rows.iter().map(CensusRow::form).collect::<Vec<_>>(), ["aesgcm:key2"]);
    let report = verify(kv, "/registry", &key2_only, &VerifyOptions::default()).await.unwrap();
    assert_eq!((report.is_success(), report.total.stale, report.total.open), (true, 0, stored.len() as u64));
}

async fn story(backend: Backend) {
    let kv = Arc::clone(&backend.kv);
    let (old, new) = (config(&[&gcm(&[KEY1])]), config(&[&gcm(&[KEY2, KEY1]), IDENTITY]));
    let lease = kv.grant_lease(Duration::from_secs(3600)).await.unwrap().id;
    let model = store(&kv, &old, lease).await;

    let stop = Arc::new(AtomicBool::new(false));
    let client = tokio::spawn({
        let (stop, mut client) =
            (Arc::clone(&stop), Client { kv: Arc::clone(&kv), config: new.clone(), model, dice: 7 });
        async move {
            let mut step = 0;
            while !stop.load(Ordering::Relaxed) {
                step += 1;
                client.act(step).await;
            }
            (client.model, step)
        }
    });
    let compactor = tokio::spawn({
        let (stop, kv) = (Arc::clone(&stop), Arc::clone(&kv));
        async move { compact(&kv, &stop).await }
    });

    let quarter = number_of_secrets() / 4;
    interrupted(&kv, &new, quarter).await;
    interrupted(&kv, &new, quarter).await;
    let report = rewrap(&kv, "/registry", &new, &RewrapOptions::default()).await.unwrap();
    assert!(report.is_success(), "{report:?}");
    assert!(report.total.rewritten <= 2 * quarter + 64, "what was done is only read: {report:?}");
    assert_eq!(report.written_meanwhile, 0);
    stop.store(true, Ordering::Relaxed);
    let ((model, steps), compacted) = (client.await.unwrap(), compactor.await.unwrap());
    assert!(steps > 10 && compacted > 0, "{steps} steps, {compacted} compactions");

    check(&kv, &model, lease).await;
    let report = rewrap(&kv, "/registry", &new, &RewrapOptions::default()).await.unwrap();
    assert_eq!((report.total.rewritten, report.passes), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_in_memory() {
    story(Backend::memory()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_in_a_directory() {
    story(Backend::durable().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_on_etcd() {
    story(Backend::etcd().await).await;
}
