//! Damaged directories: whatever is damaged, opening says so, or everything acknowledged is there.

#![cfg(feature = "durable")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use common::{all, create, delete, put};
use futures_util::future::join_all;
use kubestore_embedded::Embedded;
use kubestore_kv::{GetRequest, Kv, KvError, KvErrorKind, ListRequest, PutRequest, Revision};
use tempfile::TempDir;

/// Without a reserve, which would be one more large file to copy.
async fn open(dir: &Path) -> Result<Embedded, KvError> {
    Embedded::builder().reserve_bytes(0).open(dir).await
}

/// What a directory must hold if it opens.
#[derive(Debug, PartialEq, Eq)]
struct Contents {
    now: Vec<String>,
    before: Vec<String>,
    head: i64,
    compacted: Option<Revision>,
    lease: Option<Duration>,
}

async fn contents(kv: &Embedded) -> Result<Contents, KvError> {
    let status = kv.status().await?;
    let middle = Revision((status.head.0 + status.compacted.map_or(0, |at| at.0)) / 2);
    let lease = kv.get(GetRequest::new("leased")).await?.kv.and_then(|kv| kv.lease);
    Ok(Contents {
        now: common::pairs(&kv.list(ListRequest::new("")).await?.kvs),
        before: common::pairs(&kv.list(ListRequest::new("").at(middle)).await?.kvs),
        head: status.head.0,
        compacted: status.compacted,
        lease: match lease {
            Some(lease) => Some(kv.lease_info(lease).await?.granted),
            None => None,
        },
    })
}

/// A closed directory with tables, a journal, garbage and a lease, and what is in it.
async fn template() -> (TempDir, Contents) {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await.unwrap();
    // Enough that is compacted for the rest to be moved to tables, and the journal to be begun anew.
    for round in 10..27 {
        let value = format!("{round}").repeat(1 << 19);
        join_all((0..4).map(|key| put_owned(&kv, format!("large/{key}"), value.clone()))).await;
    }
    join_all((0..4).map(|key| put_owned(&kv, format!("large/{key}"), "small".to_owned()))).await;
    join_all((0..300).map(|key| put_owned(&kv, format!("old/{key:03}"), format!("{key:03}").repeat(50))))
        .await;
    let before = kv.status().await.unwrap();
    kv.compact(before.head).await.unwrap();
    let started = Instant::now();
    while kv.status().await.unwrap().db_size.unwrap() > 16 << 20 {
        assert!(started.elapsed() < Duration::from_secs(60), "the tables are not made");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    join_all((0..300).map(|key| put_owned(&kv, format!("new/{key:03}"), format!("{key:03}").repeat(50))))
        .await;
    join_all((0..50).map(|key| put_owned(&kv, format!("old/{key:03}"), "replaced".to_owned()))).await;
    delete(&kv, "old/200").await;
    let lease = kv.grant_lease(Duration::from_secs(1_000_000)).await.unwrap();
    let leased = PutRequest::create("leased", "x").with_lease(Some(lease.id));
    common::done(kv.optimistic_put(leased).await);
    drop(kv);
    // Once more, so that the journal ends where its content does.
    let kv = open(dir.path()).await.unwrap();
    let contents = contents(&kv).await.unwrap();
    assert_eq!(contents.now.len(), 604);
    assert!(contents.lease.is_some());
    drop(kv);
    (dir, contents)
}

async fn put_owned(kv: &Embedded, key: String, value: String) -> i64 {
    put(kv, &key, &value).await
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

fn write_all(dir: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (name, bytes) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Opens a damaged copy. Either it is refused with an error that names it and says what helps, or nothing is missing.
/// Tells whether it was refused.
async fn judge(files: &BTreeMap<PathBuf, Vec<u8>>, expected: &Contents, what: &str) -> bool {
    let dir = TempDir::new().unwrap();
    write_all(dir.path(), files);
    match open(dir.path()).await {
        Ok(kv) => {
            assert_eq!(&contents(&kv).await.unwrap(), expected, "{what}: something is missing silently");
            false
        }
        Err(error) => {
            let (kind, message) = (error.kind(), error.message());
            assert!(matches!(kind, KvErrorKind::Corrupt | KvErrorKind::Unsupported), "{what}: {error:?}");
            assert!(message.contains(dir.path().to_str().unwrap()), "{what}: {error}");
            assert!(
                message.contains("restore") || message.contains("newer") || message.contains("remove"),
                "{error}"
            );
            if let Ok(kv) = open(dir.path()).await {
                assert_eq!(
                    &contents(&kv).await.unwrap(),
                    expected,
                    "{what}: refused once, then silently incomplete"
                );
            }
            true
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flipped_byte_anywhere_is_noticed_or_harmless() {
    let (dir, expected) = template().await;
    let files = files(dir.path());
    let (mut tried, mut noticed) = (0, 0);
    for (name, bytes) in &files {
        // The ends, where headers and trailers are, and places in between.
        let mut places: Vec<usize> = (0..6).chain((1..8).map(|part| bytes.len() * part / 8)).collect();
        places.extend((1..6).filter_map(|back| bytes.len().checked_sub(back)));
        places.retain(|place| *place < bytes.len());
        places.sort_unstable();
        places.dedup();
        for place in places {
            let mut damaged = files.clone();
            damaged.get_mut(name).unwrap()[place] ^= 0x24;
            let what = format!("byte {place} of {} of {}", bytes.len(), name.display());
            tried += 1;
            noticed += usize::from(judge(&damaged, &expected, &what).await);
        }
    }
    assert!(tried > 100 && noticed > tried / 3, "{noticed} of {tried}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_or_shortened_file_is_noticed_or_harmless() {
    let (dir, expected) = template().await;
    let files = files(dir.path());
    assert!(!judge(&files, &expected, "the copy itself").await);
    for (name, bytes) in &files {
        if name == Path::new("acknowledged") {
            continue;
        }
        let mut damaged = files.clone();
        damaged.remove(name);
        judge(&damaged, &expected, &format!("without {}", name.display())).await;
        for length in [0, bytes.len() / 2, bytes.len() * 9 / 10, bytes.len().saturating_sub(1)] {
            let mut damaged = files.clone();
            damaged.get_mut(name).unwrap().truncate(length);
            judge(&damaged, &expected, &format!("{} cut to {length}", name.display())).await;
        }
        for from in [bytes.len() / 3, bytes.len() * 2 / 3] {
            let mut damaged = files.clone();
            damaged.get_mut(name).unwrap()[from..].fill(0);
            judge(&damaged, &expected, &format!("{} zeroed from {from}", name.display())).await;
        }
    }
}

#[tokio::test]
async fn a_lost_end_of_the_journal_is_noticed_and_can_be_accepted() {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await.unwrap();
    for number in 0..100 {
        create(&kv, &format!("k{number:02}"), "x").await;
    }
    drop(kv);
    drop(open(dir.path()).await.unwrap());
    let journal = files(dir.path()).into_keys().find(|name| name.extension().is_some_and(|end| end == "jnl"));
    let journal = dir.path().join(journal.unwrap());
    let length = fs::metadata(&journal).unwrap().len();
    fs::OpenOptions::new().write(true).open(&journal).unwrap().set_len(length * 2 / 3).unwrap();
    for _ in 0..2 {
        let error = open(dir.path()).await.unwrap_err();
        assert_eq!(error.kind(), KvErrorKind::Corrupt);
        assert!(error.message().contains("to 101 were acknowledged and are missing"), "{error}");
    }
    fs::remove_file(dir.path().join("acknowledged")).unwrap();
    let kv = open(dir.path()).await.unwrap();
    let left = all(&kv, "").await;
    assert!(left.len() > 50 && left.len() < 70, "{}", left.len());
    let expected: Vec<_> = (0..left.len()).map(|number| format!("k{number:02}=x")).collect();
    assert_eq!(left, expected);
    create(&kv, "again", "x").await;
    drop(kv);
    assert_eq!(all(&open(dir.path()).await.unwrap(), "again").await, ["again=x"]);
}
