//! What happens when others are faster, and when the backend fails.

use std::{
    error::Error,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use kubestore_admin::{
    AdminError, CensusOptions, FailureCause, RewrapOptions, RewrapReport, VerifyOptions, census, rewrap,
    verify,
};
use kubestore_conformance::{Call, Fault, FaultyKv, Operation, RecordingKv};
use kubestore_embedded::Embedded;
use kubestore_kv::{DeleteRequest, Kv, KvErrorKind, PutRequest};
use kubestore_transform::EncryptionConfig;

use crate::common::{
    Backend, IDENTITY, KEY1, KEY2, config, done, gcm, get, head, open, put, put_sealed, put_secrets, seal,
    secret,
};

const KEY: &str = "/registry/secrets/ns/a";

fn old() -> EncryptionConfig {
    config(&[&gcm(&[KEY1]), IDENTITY])
}

fn new() -> EncryptionConfig {
    config(&[&gcm(&[KEY2, KEY1]), IDENTITY])
}

async fn rewrapped(kv: &dyn Kv) -> RewrapReport {
    rewrap(kv, "/registry", &new(), &RewrapOptions::default()).await.unwrap()
}

/// A backend on which `meddle` happens right before the first put of [`KEY`].
fn meddled<F>(kv: &Arc<dyn Kv>, meddle: impl Fn(Arc<dyn Kv>) -> F + Send + Sync + 'static) -> FaultyKv
where
    F: Future<Output = ()> + Send + 'static,
{
    let (inner, first) = (Arc::clone(kv), AtomicU64::new(0));
    FaultyKv::new(Arc::clone(kv), move |call: &Call| {
        let is_meant =
            call.operation == Operation::OptimisticPut && call.key.as_deref() == Some(KEY.as_bytes());
        if is_meant && first.fetch_add(1, Ordering::Relaxed) == 0 {
            Fault::none().before(meddle(Arc::clone(&inner)))
        } else {
            Fault::none()
        }
    })
}

async fn overwrite(kv: &dyn Kv, config: &EncryptionConfig, key: &str, plain: &str) {
    let current = get(kv, key).await.unwrap();
    let sealed = seal(config, key, &plain.to_owned().into()).await;
    done(kv.optimistic_put(PutRequest::update(key.to_owned(), sealed, current.mod_revision)).await.unwrap());
}

async fn delete(kv: &dyn Kv, key: &str) {
    let current = get(kv, key).await.unwrap();
    done(kv.optimistic_delete(DeleteRequest::new(key.to_owned(), current.mod_revision)).await.unwrap());
}

#[tokio::test]
async fn an_edit_by_a_server_with_the_new_configuration_stands() {
    let Backend { kv, .. } = Backend::memory();
    put_sealed(&kv, &old(), KEY, secret(1)).await;
    let meddled = meddled(&kv, async |kv| overwrite(&kv, &new(), KEY, "edited").await);
    let report = rewrapped(&meddled).await;
    assert_eq!((report.total.rewritten, report.total.fresh, report.total.retries), (0, 1, 1));
    assert_eq!((report.written_meanwhile, report.passes, report.is_success()), (0, 2, true));
    assert_eq!(open(&new(), &get(&kv, KEY).await.unwrap()).await, "edited");
}

#[tokio::test]
async fn an_edit_by_a_server_with_the_old_configuration_stands_and_is_rewritten() {
    let Backend { kv, .. } = Backend::memory();
    put_sealed(&kv, &old(), KEY, secret(1)).await;
    let meddled = meddled(&kv, async |kv| overwrite(&kv, &old(), KEY, "edited").await);
    let report = rewrapped(&meddled).await;
    assert_eq!((report.total.rewritten, report.total.retries, report.written_meanwhile), (1, 1, 1));
    let key2_only = config(&[&gcm(&[KEY2])]);
    assert_eq!(open(&key2_only, &get(&kv, KEY).await.unwrap()).await, "edited");
}

#[tokio::test]
async fn what_is_deleted_meanwhile_does_not_come_back() {
    let Backend { kv, .. } = Backend::memory();
    put_sealed(&kv, &old(), KEY, secret(1)).await;
    let report = rewrapped(&meddled(&kv, async |kv| delete(&kv, KEY).await)).await;
    assert_eq!((report.total.seen, report.total.vanished, report.total.rewritten), (1, 1, 0));
    assert!(report.is_success());
    assert!(get(&kv, KEY).await.is_none());
}

#[tokio::test]
async fn what_is_deleted_and_created_again_is_the_new_one() {
    let Backend { kv, .. } = Backend::memory();
    put_sealed(&kv, &old(), KEY, secret(1)).await;
    let meddled = meddled(&kv, async |kv| {
        delete(&kv, KEY).await;
        put_sealed(&kv, &old(), KEY, "another one").await;
    });
    assert_eq!(rewrapped(&meddled).await.total.rewritten, 1);
    let current = get(&kv, KEY).await.unwrap();
    assert_eq!(open(&new(), &current).await, "another one");
    assert_eq!(current.version, 2);
}

async fn lease_that_ends(kv: Arc<dyn Kv>) {
    let lease = kv.grant_lease(Duration::from_secs(3600)).await.unwrap().id;
    let sealed = seal(&old(), KEY, &secret(1).into()).await;
    done(kv.optimistic_put(PutRequest::create(KEY, sealed).with_lease(Some(lease))).await.unwrap());
    let meddled = meddled(&kv, move |kv| async move { kv.revoke_lease(lease).await.unwrap() });
    let report = rewrapped(&meddled).await;
    assert_eq!((report.total.vanished, report.total.failed, report.is_success()), (1, 0, true));
    assert!(get(&kv, KEY).await.is_none());
}

#[tokio::test]
async fn a_key_whose_lease_ends_meanwhile_is_gone_in_memory() {
    lease_that_ends(Backend::memory().kv).await;
}

#[tokio::test]
async fn a_key_whose_lease_ends_meanwhile_is_gone_on_etcd() {
    let etcd = Backend::etcd().await;
    lease_that_ends(Arc::clone(&etcd.kv)).await;
}

#[tokio::test]
async fn a_key_that_lost_its_lease_meanwhile_stays_without_one() {
    let Backend { kv, .. } = Backend::memory();
    let lease = kv.grant_lease(Duration::from_secs(3600)).await.unwrap().id;
    let sealed = seal(&old(), KEY, &secret(1).into()).await;
    done(kv.optimistic_put(PutRequest::create(KEY, sealed).with_lease(Some(lease))).await.unwrap());
    let meddled = meddled(&kv, move |kv| async move {
        overwrite(&kv, &old(), KEY, "without").await;
        kv.revoke_lease(lease).await.unwrap();
    });
    assert_eq!(rewrapped(&meddled).await.total.rewritten, 1);
    let current = get(&kv, KEY).await.unwrap();
    assert_eq!((open(&new(), &current).await, current.lease), ("without".into(), None));
}

#[tokio::test]
async fn writes_whose_answer_is_lost_are_found_out_about() {
    let Backend { kv, .. } = Backend::memory();
    let keys = put_secrets(&kv, &old(), 10).await;
    let lossy = FaultyKv::new(Arc::clone(&kv), |call: &Call| match call.operation {
        Operation::OptimisticPut => Fault::lose_answer(),
        _ => Fault::none(),
    });
    let report = rewrapped(&lossy).await;
    assert_eq!((report.total.rewritten, report.total.retries, report.is_success()), (10, 10, true));
    for key in keys {
        assert_eq!(get(&kv, &key).await.unwrap().version, 2, "written once");
    }
}

#[tokio::test]
async fn a_backend_that_is_away_for_a_while_is_waited_for() {
    let Backend { kv, .. } = Backend::memory();
    put_secrets(&kv, &old(), 20).await;
    let lists = AtomicU64::new(0);
    let flaky = FaultyKv::new(Arc::clone(&kv), move |call: &Call| match call.operation {
        Operation::ListChunks => match lists.fetch_add(1, Ordering::Relaxed) % 3 {
            0 => Fault::fail(KvErrorKind::Unavailable),
            1 => Fault::none().cut_after(0, KvErrorKind::DeadlineExceeded),
            _ => Fault::none(),
        },
        _ if call.number.is_multiple_of(3) => Fault::fail(KvErrorKind::NoLeader),
        _ => Fault::none(),
    });
    let report = rewrapped(&flaky).await;
    assert_eq!((report.total.rewritten, report.is_success()), (20, true));
    let options = VerifyOptions::default();
    assert!(verify(&flaky, "/registry", &config(&[&gcm(&[KEY2])]), &options).await.unwrap().is_success());
}

#[tokio::test]
async fn a_backend_that_stays_away_ends_the_job() {
    let Backend { kv, .. } = Backend::memory();
    put_secrets(&kv, &old(), 20).await;
    let puts = AtomicU64::new(0);
    let dying = FaultyKv::new(Arc::clone(&kv), move |call: &Call| match call.operation {
        Operation::OptimisticPut if puts.fetch_add(1, Ordering::Relaxed) >= 5 => {
            Fault::fail(KvErrorKind::Unavailable)
        }
        _ => Fault::none(),
    });
    let options = RewrapOptions::default().concurrency(1).retry_for(Duration::from_millis(200));
    let error = rewrap(&dying, "/registry", &new(), &options).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "rewrap: the backend failed after 5 values were written; do it again to go on from there"
    );
    assert!(error.source().unwrap().to_string().contains("/registry/secrets/ns/00005"));
    // Done again, it goes on from there.
    let report = rewrapped(&kv).await;
    assert_eq!((report.total.rewritten, report.total.fresh), (15, 5));
}

#[tokio::test]
async fn refusals_end_the_job_at_once() {
    let Backend { kv, .. } = Backend::memory();
    put_secrets(&kv, &old(), 20).await;
    for kind in [KvErrorKind::PermissionDenied, KvErrorKind::NoSpace, KvErrorKind::ReadOnly] {
        let refusing = FaultyKv::new(Arc::clone(&kv), move |call: &Call| match call.operation {
            Operation::OptimisticPut => Fault::fail(kind),
            _ => Fault::none(),
        });
        let recording = RecordingKv::new(Arc::new(refusing));
        let options = RewrapOptions::default().concurrency(1);
        let error = rewrap(&recording, "/registry", &new(), &options).await.unwrap_err();
        assert!(
            matches!(&error, AdminError::Backend { job: "rewrap", done: 0, source } if source.kind() == kind),
            "{error:?}"
        );
        assert_eq!(recording.count_of(Operation::OptimisticPut), 1, "{kind:?}");
    }
}

#[tokio::test]
async fn a_value_that_becomes_too_large_is_told_and_left_alone() {
    let kv: Arc<dyn Kv> = Arc::new(Embedded::builder().max_request_bytes(1000).in_memory());
    put(&kv, KEY, format!("{{{}}}", " ".repeat(850))).await;
    put(&kv, "/registry/secrets/ns/b", "{}").await;
    let report = rewrapped(&kv).await;
    assert_eq!((report.total.rewritten, report.total.failed, report.is_success()), (1, 1, false));
    assert!(report.complete);
    let failure = &report.failures.first[0];
    assert_eq!((failure.key.as_str(), failure.cause), (KEY, FailureCause::TooLarge));
}

#[tokio::test]
async fn compaction_in_the_middle_of_a_list_does_not_disturb() {
    let Backend { kv, .. } = Backend::memory();
    let old = old();
    // Parts of the embedded engine have at most 4 MiB.
    for number in 0..10 {
        let plain = format!("{{{}{number}}}", " ".repeat(1024 * 1024));
        put_sealed(&kv, &old, &format!("/registry/secrets/ns/{number}"), plain).await;
    }
    let (inner, lists) = (Arc::clone(&kv), Arc::new(AtomicU64::new(0)));
    let compacting = FaultyKv::new(Arc::clone(&kv), {
        let lists = Arc::clone(&lists);
        move |call: &Call| {
            if call.operation != Operation::ListChunks || lists.fetch_add(1, Ordering::Relaxed) >= 3 {
                return Fault::none();
            }
            let inner = Arc::clone(&inner);
            let compact = async move {
                put(&inner, &format!("/registry/pods/ns/{}", head(&inner).await), "{}").await;
                inner.compact(head(&inner).await).await.unwrap();
            };
            // What a server says when a later part is asked for, and in truth before the next list.
            Fault::none().before(compact).cut_after(1, KvErrorKind::Compacted)
        }
    });
    let census = census(&compacting, "/registry", &CensusOptions::default()).await.unwrap();
    assert_eq!(census.rows.iter().find(|row| row.provider == "aesgcm").unwrap().values, 10);
    assert!(census.last_revision > census.revision);
    assert!(lists.load(Ordering::Relaxed) >= 3);
    lists.store(0, Ordering::Relaxed);
    let report = rewrapped(&compacting).await;
    assert_eq!((report.total.rewritten, report.total.failed, report.is_success()), (10, 0, true));
}

#[tokio::test]
async fn endless_writes_with_the_old_configuration_are_told_and_not_run_after_for_ever() {
    let Backend { kv, .. } = Backend::memory();
    let inner = Arc::clone(&kv);
    put_sealed(&kv, &old(), KEY, secret(1)).await;
    let stubborn = FaultyKv::new(Arc::clone(&kv), move |call: &Call| {
        let inner = Arc::clone(&inner);
        match call.operation {
            // Right before each pass, a server that has the old configuration writes.
            Operation::Count => {
                Fault::none().before(async move { overwrite(&inner, &old(), KEY, "old").await })
            }
            _ => Fault::none(),
        }
    });
    let options = RewrapOptions::default().most_passes(4);
    let report = rewrap(&stubborn, "/registry", &new(), &options).await.unwrap();
    assert_eq!((report.passes, report.complete, report.is_success()), (4, false, false));
    assert_eq!((report.total.rewritten, report.written_meanwhile), (4, 3));
}

#[tokio::test]
async fn a_value_that_changes_all_the_time_is_given_up_for_this_pass() {
    let Backend { kv, .. } = Backend::memory();
    let inner = Arc::clone(&kv);
    put_sealed(&kv, &old(), KEY, secret(1)).await;
    let busy = FaultyKv::new(Arc::clone(&kv), move |call: &Call| {
        let inner = Arc::clone(&inner);
        match call.operation {
            Operation::OptimisticPut => {
                Fault::none().before(async move { overwrite(&inner, &old(), KEY, "old").await })
            }
            _ => Fault::none(),
        }
    });
    let options = RewrapOptions::default().most_passes(2);
    let report = rewrap(&busy, "/registry", &new(), &options).await.unwrap();
    assert_eq!((report.total.retries, report.total.failed, report.complete), (64, 1, false));
    assert_eq!(report.failures.first[0].cause, FailureCause::Contended);
}

#[tokio::test(start_paused = true)]
async fn writes_are_no_more_per_second_than_asked_for() {
    let Backend { kv, .. } = Backend::memory();
    put_secrets(&kv, &old(), 50).await;
    let start = tokio::time::Instant::now();
    let options = RewrapOptions::default().rate(NonZeroU32::new(10));
    rewrap(&kv, "/registry", &new(), &options).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(4900));
}

#[tokio::test]
async fn no_more_values_are_worked_on_at_once_than_asked_for() {
    let Backend { kv, .. } = Backend::memory();
    put_secrets(&kv, &old(), 40).await;
    let (now, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let counting = FaultyKv::new(Arc::clone(&kv), {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        move |call: &Call| {
            if call.operation != Operation::OptimisticPut {
                return Fault::none();
            }
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let now = Arc::clone(&now);
            Fault::none().delay(Duration::from_millis(2)).after(async move {
                now.fetch_sub(1, Ordering::SeqCst);
            })
        }
    });
    let start = Instant::now();
    rewrap(&counting, "/registry", &new(), &RewrapOptions::default().concurrency(8)).await.unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 8, "in {:?}", start.elapsed());
}
