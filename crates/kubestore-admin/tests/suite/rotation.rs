//! The whole story of a rotation, on all backends.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use kubestore_admin::{CensusOptions, RewrapOptions, Scope, Standing, VerifyOptions, census, rewrap, verify};
use kubestore_conformance::{Operation, RecordingKv};
use kubestore_kv::{Kv, PutRequest};
use kubestore_transform::EncryptionConfig;

use crate::common::{
    Backend, CANARY, IDENTITY, KEY1, KEY2, all, config, done, gcm, get, head, open, put, put_sealed, seal,
    secret,
};

/// How many values there are of each form.
async fn forms(kv: &dyn Kv) -> BTreeMap<String, u64> {
    let census = census(kv, "/registry", &CensusOptions::default()).await.unwrap();
    let rows = census.rows.iter().map(|row| (format!("{} {}", row.resource, row.form()), row.values));
    rows.collect()
}

fn forms_of<const N: usize>(forms: [(&str, u64); N]) -> BTreeMap<String, u64> {
    forms.map(|(form, values)| (form.to_owned(), values)).into()
}

async fn check_verified(kv: &dyn Kv, config: &EncryptionConfig, values: u64) {
    let before = head(kv).await;
    let report = verify(kv, "/registry", config, &VerifyOptions::default()).await.unwrap();
    assert_eq!((report.total.open, report.total.stale, report.total.failed), (values, 0, 0));
    assert!(report.is_success());
    assert_eq!((head(kv).await, report.revision), (before, before.0), "verify writes nothing");
}

async fn rotation(backend: Backend) {
    let kv = RecordingKv::new(Arc::clone(&backend.kv));
    let key1 = config(&[&gcm(&[KEY1]), IDENTITY]);
    for namespace in ["a", "b", "c"] {
        for number in 0..50 {
            let key = format!("/registry/secrets/{namespace}/{number}");
            put_sealed(&kv, &key1, &key, secret(number)).await;
        }
    }
    // Other resources are none of its business.
    put(&kv, "/registry/configmaps/a/cm", r#"{"kind":"ConfigMap"}"#).await;
    put(&kv, "/registry/ranges/servicenodeports", "k8s\0range").await;
    put(&kv, "/elsewhere", "untouched").await;
    let others = [("configmaps json", 1), ("ranges protobuf", 1)];
    let with_others = |form| forms_of([form, others[0], others[1]]);
    assert_eq!(forms(&kv).await, with_others(("secrets aesgcm:key1", 150)));

    let key2 = config(&[&gcm(&[KEY2, KEY1]), IDENTITY]);
    let options = CensusOptions::default().against(&key2);
    let before = census(&kv, "/registry", &options).await.unwrap();
    assert_eq!(
        (before.values_that_are(Standing::Stale), before.values_that_are(Standing::Current)),
        (150, 2)
    );

    let report = rewrap(&kv, "/registry", &key2, &RewrapOptions::default()).await.unwrap();
    assert_eq!((report.total.rewritten, report.total.failed, report.total.retries), (150, 0, 0));
    assert_eq!((report.total.seen, report.total.fresh, report.passes), (152, 2, 2));
    assert!(report.is_success());
    assert_eq!(forms(&kv).await, with_others(("secrets aesgcm:key2", 150)));
    check_verified(&kv, &key2, 152).await;
    // The old key may go.
    check_verified(&kv, &config(&[&gcm(&[KEY2])]), 152).await;

    let _before = kv.take();
    let report = rewrap(&kv, "/registry", &key2, &RewrapOptions::default()).await.unwrap();
    assert_eq!((report.total.rewritten, report.total.fresh, report.passes), (0, 152, 1));
    assert_eq!(kv.count_of(Operation::OptimisticPut), 0, "done again, it only reads");

    let plain = config(&[IDENTITY, &gcm(&[KEY2])]);
    let report = rewrap(&kv, "/registry", &plain, &RewrapOptions::default()).await.unwrap();
    assert_eq!((report.total.rewritten, report.is_success()), (150, true));
    assert_eq!(forms(&kv).await, with_others(("secrets json", 150)));
    check_verified(&kv, &config(&[IDENTITY]), 152).await;
    assert_eq!(get(&kv, "/registry/secrets/b/7").await.unwrap().value, secret(7));
    assert_eq!(get(&kv, "/elsewhere").await.unwrap().value, "untouched");
}

#[tokio::test]
async fn keys_are_rotated_and_encryption_is_switched_off_in_memory() {
    rotation(Backend::memory()).await;
}

#[tokio::test]
async fn keys_are_rotated_and_encryption_is_switched_off_in_a_directory() {
    rotation(Backend::durable().await).await;
}

#[tokio::test]
async fn keys_are_rotated_and_encryption_is_switched_off_on_etcd() {
    rotation(Backend::etcd().await).await;
}

async fn bytes_and_leases(backend: Backend) {
    let kv = &*backend.kv;
    let (old, new) = (config(&[&gcm(&[KEY1])]), config(&[&gcm(&[KEY2, KEY1])]));
    // Protobuf of a version that nobody knows: an unknown field, and bytes that are no text.
    let unknown = Bytes::from_static(b"k8s\0\x0a\x04\x0a\x02v9\x12\x06\xfa\x7f\x03\xff\xfe\x00\x99\x01\x00");
    let key = "/registry/secrets/ns/unknown";
    put_sealed(kv, &old, key, unknown.clone()).await;
    let lease = kv.grant_lease(Duration::from_secs(3600)).await.unwrap().id;
    let leased = "/registry/secrets/ns/leased";
    let sealed = seal(&old, leased, &secret(1).into()).await;
    done(kv.optimistic_put(PutRequest::create(leased, sealed).with_lease(Some(lease))).await.unwrap());

    let report = rewrap(kv, "/registry", &new, &RewrapOptions::default()).await.unwrap();
    assert_eq!((report.total.rewritten, report.is_success()), (2, true));
    let key2_only = config(&[&gcm(&[KEY2])]);
    let unknown_now = get(kv, key).await.unwrap();
    assert_eq!((open(&key2_only, &unknown_now).await, unknown_now.lease), (unknown, None));
    let leased_now = get(kv, leased).await.unwrap();
    assert_eq!((open(&key2_only, &leased_now).await, leased_now.lease), (secret(1).into(), Some(lease)));
    kv.revoke_lease(lease).await.unwrap();
    assert!(get(kv, leased).await.is_none(), "the key still ends with its lease");
}

#[tokio::test]
async fn bytes_stay_the_same_inside_and_leases_are_kept_in_memory() {
    bytes_and_leases(Backend::memory()).await;
}

#[tokio::test]
async fn bytes_stay_the_same_inside_and_leases_are_kept_on_etcd() {
    bytes_and_leases(Backend::etcd().await).await;
}

#[tokio::test]
async fn a_dry_run_counts_and_writes_nothing() {
    let Backend { kv, .. } = &Backend::memory();
    put_sealed(kv, &config(&[&gcm(&[KEY1])]), "/registry/secrets/ns/a", secret(1)).await;
    let before = head(kv).await;
    let options = RewrapOptions::default().dry_run(true);
    let new = config(&[&gcm(&[KEY2, KEY1])]);
    let report = rewrap(kv, "/registry", &new, &options).await.unwrap();
    assert_eq!((report.total.rewritten, report.passes, report.dry_run), (1, 1, true));
    assert_eq!(head(kv).await, before);
    // Without the old key it says what would be in the way.
    let report = rewrap(kv, "/registry", &config(&[&gcm(&[KEY2])]), &options).await.unwrap();
    assert_eq!((report.total.failed, report.is_success()), (1, false));
}

#[tokio::test]
async fn only_the_chosen_resources_are_touched_and_read() {
    let kv = RecordingKv::new(Backend::memory().kv);
    let new = crate::common::rules(&[("secrets, configmaps, deployments.apps", &[&gcm(&[KEY2]), IDENTITY])]);
    for key in ["secrets/ns/a", "configmaps/ns/a", "deployments/ns/a"] {
        put(&kv, &format!("/registry/{key}"), "{}").await;
    }
    let _before = kv.take();
    let scope = Scope::new("/registry").only(["deploy"]).unwrap();
    let report = rewrap(&kv, scope, &new, &RewrapOptions::default()).await.unwrap();
    assert_eq!(report.total.rewritten, 1);
    assert_eq!(report.resources.keys().map(ToString::to_string).collect::<Vec<_>>(), ["deployments.apps"]);
    let listed = kv.calls_of(Operation::ListChunks);
    assert!(listed.iter().all(|list| list.call.key.as_deref() == Some(b"/registry/deployments/")));

    let scope = Scope::new("/registry").only(["*."]).unwrap();
    let report = rewrap(&kv, scope, &new, &RewrapOptions::default()).await.unwrap();
    let touched: Vec<_> = report.resources.keys().map(ToString::to_string).collect();
    assert_eq!((report.total.rewritten, touched), (2, vec!["configmaps".to_owned(), "secrets".to_owned()]));
}

#[tokio::test]
async fn progress_is_told_to_its_end() {
    let Backend { kv, .. } = &Backend::memory();
    crate::common::put_secrets(kv, &config(&[&gcm(&[KEY1])]), 20).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let options = RewrapOptions::default().on_progress({
        let told = Arc::clone(&told);
        move |progress| told.lock().unwrap().push(*progress)
    });
    rewrap(kv, "/registry", &config(&[&gcm(&[KEY2, KEY1])]), &options).await.unwrap();
    let told = told.lock().unwrap().clone();
    let first = told.iter().rfind(|progress| progress.pass == 1).unwrap();
    assert_eq!((first.done, first.total, first.written, first.failed), (20, 20, 20, 0));
    let last = told.last().unwrap();
    assert_eq!((last.pass, last.done, last.total, last.written), (2, 20, 20, 20));
    assert!(told.iter().is_sorted_by_key(|progress| (progress.pass, progress.done)));
    assert!(!all(kv).await.iter().any(|kv| String::from_utf8_lossy(&kv.value).contains(CANARY)));
}
