//! Looking into directories, and repairing damaged ones.

#![cfg(feature = "durable")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use common::{all, create, delete, done, put};
use kubestore_embedded::{CheckOptions, CheckReport, Embedded, ProblemKind};
use kubestore_kv::{GetRequest, Kv, KvErrorKind, PutRequest, Revision};
use tempfile::TempDir;

async fn open(dir: &Path) -> Embedded {
    Embedded::builder().reserve_bytes(0).open(dir).await.unwrap()
}

async fn check(dir: &Path) -> CheckReport {
    Embedded::check(dir, CheckOptions::default()).await.unwrap()
}

fn kinds(report: &CheckReport) -> BTreeSet<ProblemKind> {
    report.problems.iter().map(|problem| problem.kind()).collect()
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Forty keys, some replaced and some deleted, a compaction, and a lease with two keys. The head is 66.
async fn template() -> TempDir {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await;
    for number in 0..40 {
        create(&kv, &format!("k{number:02}"), &format!("value {number} ").repeat(20)).await; // 2 to 41
    }
    for number in 0..12 {
        put(&kv, &format!("k{number:02}"), "replaced").await; // 42 to 53
    }
    for number in 30..40 {
        delete(&kv, &format!("k{number:02}")).await; // 54 to 63
    }
    kv.compact(Revision(50)).await.unwrap();
    let lease = kv.grant_lease(Duration::from_secs(1_000_000)).await.unwrap().id;
    for key in ["l0", "l1"] {
        done(kv.optimistic_put(PutRequest::create(key, "x").with_lease(Some(lease))).await); // 64 and 65
    }
    put(&kv, "k05", "newest").await; // 66
    kv.close().await;
    // Once more, so that what the compaction left is gone, and the journal ends where its content does.
    open(dir.path()).await.close().await;
    dir
}

fn copy(files: &BTreeMap<PathBuf, Vec<u8>>) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, bytes) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    dir
}

fn journal(files: &BTreeMap<PathBuf, Vec<u8>>) -> PathBuf {
    files.keys().rfind(|name| name.extension().is_some_and(|end| end == "jnl")).unwrap().clone()
}

#[tokio::test]
async fn a_sound_directory_is_said_to_be_and_left_as_it_is() {
    let dir = template().await;
    let before = files(dir.path());
    let scratch = TempDir::new().unwrap();
    let report =
        Embedded::check(dir.path(), CheckOptions::default().with_scratch(scratch.path())).await.unwrap();
    assert_eq!(report.problems, []);
    assert!(report.is_sound() && !report.torn_end);
    assert_eq!(
        (report.head, report.compacted, report.keys, report.leases),
        (Revision(66), Revision(50), 32, 1)
    );
    assert!(report.versions >= 43 && report.bytes > 3000, "{report:?}");
    let repaired = Embedded::repair(dir.path(), CheckOptions::default()).await.unwrap();
    assert_eq!((repaired.kept, repaired.history_kept, repaired.keys), (None, true, 32));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "the copy is gone");
    assert!(files(dir.path()) == before, "nothing was changed");
}

#[tokio::test]
async fn what_is_open_or_not_ours_is_not_looked_into() {
    let dir = template().await;
    let kv = open(dir.path()).await;
    for error in [
        Embedded::check(dir.path(), CheckOptions::default()).await.unwrap_err(),
        Embedded::repair(dir.path(), CheckOptions::default()).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), KvErrorKind::Unavailable);
        assert!(error.message().contains("this process"), "{error}");
    }
    kv.close().await;
    let empty = TempDir::new().unwrap();
    for (path, says) in
        [(empty.path().to_owned(), "no data"), (empty.path().join("missing"), "name a directory")]
    {
        for error in [
            Embedded::check(&path, CheckOptions::default()).await.unwrap_err(),
            Embedded::repair(&path, CheckOptions::default()).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), KvErrorKind::InvalidArgument, "{error:?}");
            assert!(error.message().contains(says), "{error}");
        }
    }
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "nothing was made");
    let nowhere = CheckOptions::default().with_scratch(empty.path().join("missing"));
    let error = Embedded::check(dir.path(), nowhere).await.unwrap_err();
    assert!(error.message().contains("name another place for it"), "{error}");
}

#[tokio::test]
async fn a_torn_end_is_told_and_is_no_problem() {
    let dir = template().await;
    let mut torn = files(dir.path());
    let name = journal(&torn);
    // The begin of a batch and nothing more.
    torn.get_mut(&name).unwrap().extend_from_slice(&[1, 5, 0, 0, 0, 9, 9]);
    let dir = copy(&torn);
    let report = check(dir.path()).await;
    assert!(report.is_sound() && report.torn_end, "{report:?}");
    assert!(files(dir.path()) == torn);
    assert_eq!(open(dir.path()).await.count("".into()).await.unwrap(), 32);
}

#[tokio::test]
async fn a_lost_end_is_found_and_the_repair_goes_on_above_what_was_acknowledged() {
    let dir = template().await;
    let whole = files(dir.path());
    let name = journal(&whole);
    let mut cut = whole.clone();
    let bytes = cut.get_mut(&name).unwrap();
    bytes.truncate(bytes.len() * 2 / 3);
    let dir = copy(&cut);
    let report = check(dir.path()).await;
    assert!(kinds(&report).contains(&ProblemKind::LostEnd), "{report:?}");
    let lost = report.problems.iter().find_map(|problem| problem.revisions()).unwrap();
    assert_eq!(*lost.end(), Revision(66));
    assert!(report.problems[0].to_string().contains("to 66"), "{}", report.problems[0]);
    let error = Embedded::open(dir.path()).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::Corrupt);

    let repaired = Embedded::repair(dir.path(), CheckOptions::default()).await.unwrap();
    assert!(!repaired.history_kept && repaired.head == Revision(67), "{repaired:?}");
    let kept = repaired.kept.unwrap();
    assert!(
        files(&kept)[Path::new(name.file_name().unwrap())] == cut[&name],
        "what was there is kept as it was"
    );
    assert!(check(dir.path()).await.is_sound());
    let kv = open(dir.path()).await;
    let status = kv.status().await.unwrap();
    assert_eq!((status.head, status.compacted), (Revision(67), Some(Revision(67))));
    assert_eq!(i64::try_from(repaired.keys).unwrap(), kv.count("".into()).await.unwrap());
    // Who watched before must list again, whatever it has seen.
    let mut watch = common::watch_from(&kv, "", 60).await;
    assert_eq!(common::failure(&mut watch).await.kind(), KvErrorKind::Compacted);
    let mut watch = common::watch_from(&kv, "", 67).await;
    assert_eq!(create(&kv, "after", "x").await, 68);
    assert_eq!(common::events(&mut watch, 1).await, ["put after=x @68"]);
    let listed = all(&kv, "").await;
    kv.close().await;
    assert_eq!(all(&open(dir.path()).await, "").await, listed);
}

/// Whatever byte is damaged: the report is sound exactly if the directory opens, nothing is changed by looking, and
/// after a repair it opens with what is not concerned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_and_opening_agree_and_the_repair_saves_what_is_whole() {
    let dir = template().await;
    let whole = files(dir.path());
    let expected = all(&open(dir.path()).await, "").await;
    let (mut unsound, mut repaired, mut complete) = (0, 0, 0);
    for (name, bytes) in &whole {
        for part in 0..12 {
            let place = (bytes.len().saturating_sub(1)) * part / 11;
            if bytes.is_empty() || name.ends_with("lock") || name.ends_with("FORMAT") {
                continue;
            }
            let mut damaged = whole.clone();
            damaged.get_mut(name).unwrap()[place] ^= 0x24;
            let dir = copy(&damaged);
            let what = format!("byte {place} of {} of {}", bytes.len(), name.display());

            let report = check(dir.path()).await;
            assert!(files(dir.path()) == damaged, "{what}: looking changed something");
            let opened = {
                let dir = copy(&damaged);
                Embedded::builder().reserve_bytes(0).open(dir.path()).await.is_ok()
            };
            assert_eq!(report.is_sound(), opened, "{what}: {report:?}");
            if report.is_sound() {
                continue;
            }
            unsound += 1;
            match Embedded::repair(dir.path(), CheckOptions::default()).await {
                Ok(outcome) => {
                    repaired += 1;
                    assert!(outcome.kept.unwrap().is_dir(), "{what}");
                    let kv = open(dir.path()).await;
                    assert!(kv.status().await.unwrap().head >= Revision(66), "{what}");
                    let found = all(&kv, "").await;
                    assert_eq!(u64::try_from(found.len()).unwrap(), outcome.keys, "{what}");
                    complete += usize::from(found == expected);
                    create(&kv, "after", "x").await;
                }
                Err(error) => {
                    assert_eq!(error.kind(), KvErrorKind::Corrupt, "{what}: {error:?}");
                    assert!(error.message().contains("restore"), "{what}: {error}");
                    assert!(files(dir.path()).keys().eq(damaged.keys()), "{what}: nothing was moved");
                }
            }
        }
    }
    eprintln!("{unsound} unsound, {repaired} repaired, {complete} of them complete");
    assert!(unsound > 20 && repaired > 10, "{unsound} {repaired}");
}

#[tokio::test]
async fn a_lost_mark_is_told_and_repaired_without_a_loss() {
    let dir = template().await;
    fs::write(dir.path().join("acknowledged"), "rubbish").unwrap();
    let report = check(dir.path()).await;
    assert_eq!(kinds(&report), BTreeSet::from([ProblemKind::Mark]));
    let repaired = Embedded::repair(dir.path(), CheckOptions::default()).await.unwrap();
    assert!(repaired.history_kept && repaired.head == Revision(66), "{repaired:?}");
    let kv = open(dir.path()).await;
    assert_eq!(kv.count("".into()).await.unwrap(), 32);
    let lease = kv.get(GetRequest::new("l1")).await.unwrap().kv.unwrap().lease.unwrap();
    assert_eq!(kv.lease_info(lease).await.unwrap().granted, Duration::from_secs(1_000_000));
    let history = common::value_at(&kv, "k05", 60).await.unwrap();
    assert_eq!(history.as_deref(), Some("replaced"), "older versions are there, too");
}
