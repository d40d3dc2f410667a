//! Jobs on the snapshot of a real cluster: nothing but the file is needed.

use std::{io::Read, path::Path};

use futures_util::TryStreamExt;
use kubestore_admin::{
    CensusOptions, DiffOptions, ExportOptions, ImportLeases, ImportOptions, VerifyOptions, census, diff,
    export, import, verify,
};
use kubestore_embedded::Embedded;
use kubestore_kv::{DeleteRequest, Kv, KvErrorKind, ListRequest, PutRequest, Revision};
use kubestore_snapshot::{Snapshot, SnapshotOptions};
use kubestore_transform::EncryptionConfig;

use crate::common::{all, done, get, put};

fn cluster(name: &str) -> Vec<u8> {
    let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cluster.tar.gz");
    let mut pack = tar::Archive::new(flate2::read::GzDecoder::new(std::fs::File::open(pack).unwrap()));
    let mut entries = pack.entries().unwrap().map(Result::unwrap);
    let mut entry = entries.find(|entry| entry.path().unwrap().ends_with(name)).unwrap();
    let mut content = Vec::new();
    entry.read_to_end(&mut content).unwrap();
    content
}

async fn opened() -> Snapshot {
    Snapshot::from_bytes(cluster("snapshot.db"), SnapshotOptions::default()).await.unwrap()
}

#[tokio::test]
async fn every_value_of_a_real_cluster_opens_and_decodes() {
    let snapshot = opened().await;
    let text = String::from_utf8(cluster("encryption.yaml")).unwrap();
    let config = EncryptionConfig::from_str(&text, "encryption.yaml").unwrap();
    let options = VerifyOptions::default().check_contents(true);
    let report = verify(&snapshot, "/registry", &config, &options).await.unwrap();
    assert_eq!(report.failures.first, []);
    let keys = snapshot.count("/registry/".into()).await.unwrap();
    assert_eq!((i64::try_from(report.total.open).unwrap(), report.revision), (keys, snapshot.info().head.0));
    let census = census(&snapshot, "/registry", &CensusOptions::default()).await.unwrap();
    let forms: Vec<_> = census.rows.iter().map(|row| row.form()).collect();
    for form in ["aesgcm:key1", "secretbox:box1", "aescbc:cbc1"] {
        assert!(forms.iter().any(|found| found == form), "{forms:?}");
    }
}

#[tokio::test]
async fn a_snapshot_is_put_into_another_backend_and_compared_with_it() {
    let snapshot = opened().await;
    let to = Embedded::in_memory();
    let lines = Box::pin(export(&snapshot, "/registry", &ExportOptions::default()));
    let report = import(&to, lines, &ImportOptions::default().leases(ImportLeases::Renew)).await.unwrap();
    assert_eq!((report.is_success(), report.leases_granted), (true, 2));
    assert_eq!(report.revision, snapshot.info().head.0);
    let same: Vec<_> =
        diff(&snapshot, &to, "/registry", &DiffOptions::default()).try_collect().await.unwrap();
    assert_eq!(same, []);
    let kvs = all(&snapshot).await;
    assert_eq!((kvs.len() as u64, all(&to).await.len()), (report.created, kvs.len()));

    let (first, last) = (kvs.first().unwrap(), kvs.last().unwrap());
    let now = get(&to, std::str::from_utf8(&first.key).unwrap()).await.unwrap();
    done(to.optimistic_delete(DeleteRequest::new(now.key, now.mod_revision)).await.unwrap());
    let now = get(&to, std::str::from_utf8(&last.key).unwrap()).await.unwrap();
    done(to.optimistic_put(PutRequest::update(now.key, "other", now.mod_revision)).await.unwrap());
    put(&to, "/registry/zzz/new", "new").await;
    let found: Vec<_> =
        diff(&snapshot, &to, "/registry", &DiffOptions::default()).try_collect().await.unwrap();
    assert_eq!(found.len(), 3);
    assert!(found[0].is_removed() && found[1].is_changed() && found[2].is_added());
    assert_eq!((found[0].before.as_ref(), found[1].before.as_ref()), (Some(first), Some(last)));

    // What was created in the second half of the history.
    let half = Revision(snapshot.info().head.0 / 2);
    let options = DiffOptions::default().before_at(half);
    let later: Vec<_> = diff(&snapshot, &snapshot, "/registry", &options).try_collect().await.unwrap();
    let then = snapshot.list(ListRequest::new("/registry/").at(half)).await.unwrap().kvs;
    let added: Vec<_> = kvs.iter().filter(|kv| then.iter().all(|old| old.key != kv.key)).collect();
    let found: Vec<_> =
        later.iter().filter(|found| found.is_added()).filter_map(|found| found.after.as_ref()).collect();
    assert_eq!(found, added);
    assert!(!added.is_empty() && added.iter().all(|kv| kv.create_revision > half));
    assert!(later.iter().any(|found| found.is_changed()));

    let lines = Box::pin(export(&to, "/registry", &ExportOptions::default()));
    let error = import(&snapshot, lines, &ImportOptions::default()).await.unwrap_err();
    let cause =
        std::error::Error::source(&error).unwrap().downcast_ref::<Box<kubestore_kv::KvError>>().unwrap();
    assert_eq!(cause.kind(), KvErrorKind::ReadOnly);
}
