//! A real disk that is full: a small tmpfs, mounted in a namespace of its own, which goes with the process.

#![cfg(all(feature = "durable", target_os = "linux"))]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use common::child::{Running, die_with_parent, tell};
use futures_util::future::join_all;
use kubestore_embedded::{CheckOptions, Embedded};
use kubestore_kv::{DeleteRequest, Kv, KvError, KvErrorKind, ListRequest, PutRequest, Revision};
use tempfile::TempDir;

const CHILD: &str = "KUBESTORE_TEST_FULL";
const VALUE: usize = 20 << 10;

/// One of many values that differ.
fn value(number: usize) -> Vec<u8> {
    format!("{number:08}").repeat(VALUE / 8).into_bytes()
}

async fn put(kv: &Embedded, key: String, number: usize) -> Result<(), KvError> {
    kv.optimistic_put(PutRequest::create(key, value(number))).await.map(|_| ())
}

/// Eight writers, until none gets any further. How many keys there are now.
async fn fill(kv: &Embedded, round: usize) -> usize {
    let writers = (0..8_usize).map(|writer| async move {
        for number in 0.. {
            if let Err(error) = put(kv, format!("{round}/{writer}/{number:05}"), number).await {
                assert_eq!(error.kind(), KvErrorKind::NoSpace, "{error:?}");
                return;
            }
        }
    });
    join_all(writers).await;
    usize::try_from(kv.count("".into()).await.unwrap()).unwrap()
}

/// Deletes every second key, and compacts. How many it deleted.
async fn empty(kv: &Embedded) -> usize {
    let keys = kv.list(ListRequest::new("").keys_only()).await.unwrap().kvs;
    let deleted = keys.iter().step_by(2).map(|key| async {
        kv.optimistic_delete(DeleteRequest::new(key.key.clone(), key.mod_revision)).await.unwrap();
    });
    let deleted = join_all(deleted).await.len();
    kv.compact(kv.status().await.unwrap().head).await.unwrap();
    deleted
}

/// Puts one key as soon as there is room. How long that took.
async fn put_once_there_is_room(kv: &Embedded, key: &str) -> Duration {
    let started = Instant::now();
    while let Err(error) = put(kv, key.to_owned(), 7).await {
        assert_eq!(error.kind(), KvErrorKind::NoSpace, "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(90), "there is still no room: {error:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    started.elapsed()
}

/// Not a test by itself: what the next one runs where the disk is small.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_the_process_on_a_small_disk() {
    let Some(disk) = std::env::var_os(CHILD) else { return };
    die_with_parent();
    let disk = Path::new(&disk);
    let mut kv = Embedded::open(disk.join("store")).await.unwrap();
    for round in 0..4 {
        let full = fill(&kv, round).await;
        let started = Instant::now();
        let deleted = empty(&kv).await;
        let took = put_once_there_is_room(&kv, &format!("{round}/again")).await;
        tell(&format!(
            "round {round}: full with {full} keys of {VALUE} bytes; {deleted} deleted and compacted in {:?}, room after {took:?}",
            started.elapsed() - took
        ));
        let expected = i64::try_from(full - deleted + 1).unwrap();
        assert_eq!(kv.count("".into()).await.unwrap(), expected);
        kv.close().await;
        kv = Embedded::open(disk.join("store")).await.unwrap();
        let list = kv.list(ListRequest::new("")).await.unwrap().kvs;
        assert_eq!(i64::try_from(list.len()).unwrap(), expected);
        assert!(list.iter().all(|kv| kv.value.len() == VALUE && kv.value[..8] == kv.value[VALUE - 8..]));
    }

    // Somebody else takes the room, and gives it back.
    let mut other = File::create(disk.join("other")).unwrap();
    while other.write_all(&[1; 1 << 16]).is_ok() {}
    drop(other);
    let mut refused = None;
    for number in 0..4000 {
        if let Err(error) = put(&kv, format!("more/{number}"), number).await {
            refused = Some(error.kind());
            break;
        }
    }
    assert_eq!(refused, Some(KvErrorKind::NoSpace));
    kv.compact(Revision(kv.status().await.unwrap().head.0)).await.unwrap();
    fs::remove_file(disk.join("other")).unwrap();
    tell(&format!(
        "room that somebody else gave back is taken after {:?}",
        put_once_there_is_room(&kv, "z").await
    ));
    kv.close().await;
    tell("done");
}

/// Not a test by itself: what the last one runs before and after the disk becomes one that only reads.
#[tokio::test]
async fn as_the_process_on_a_disk_that_only_reads() {
    let Some(dir) = std::env::var_os(READ_ONLY) else { return };
    let dir = Path::new(&dir).join("store");
    if !dir.exists() {
        put(&Embedded::open(&dir).await.unwrap(), "a".to_owned(), 1).await.unwrap();
        return;
    }
    let error = Embedded::open(&dir).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::ReadOnly, "{error:?}");
    assert!(error.message().contains("it needs a file system that can be written"), "{error}");
    let error = Embedded::open(dir.join("../new")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::ReadOnly, "{error:?}");
    // Looking needs no more than a place for its copy.
    let report = Embedded::check(&dir, CheckOptions::default()).await.unwrap();
    assert!(report.is_sound() && report.keys == 1, "{report:?}");
    tell("\ndone");
}

const READ_ONLY: &str = "KUBESTORE_TEST_READ_ONLY";

#[test]
#[ignore = "mounts a tmpfs in a namespace of its own; run it with --ignored where that is allowed"]
fn a_disk_that_only_reads_is_refused_and_can_be_looked_into() {
    let disk = TempDir::new().unwrap();
    let script = "mount -t tmpfs -o size=160m tmpfs \"$1\" \
                  && \"$2\" --exact as_the_process_on_a_disk_that_only_reads \
                  && mount -o remount,ro \"$1\" \
                  && exec \"$2\" --exact as_the_process_on_a_disk_that_only_reads --nocapture";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command.arg(disk.path()).arg(std::env::current_exe().unwrap()).env(READ_ONLY, disk.path());
    assert!(Running::spawn(command).tells("done"));
}

#[test]
#[ignore = "mounts a tmpfs in a namespace of its own; run it with --ignored where that is allowed"]
fn a_full_disk_refuses_writes_and_takes_what_makes_room() {
    let disk = TempDir::new().unwrap();
    let binary = std::env::current_exe().unwrap();
    let script = "mount -t tmpfs -o size=\"$1\" tmpfs \"$2\" && exec \"$3\" --exact as_the_process_on_a_small_disk --nocapture";
    for size in ["160m", "400m"] {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", size]);
        command.arg(disk.path()).arg(&binary).env(CHILD, disk.path());
        let mut child = Running::spawn(command);
        let mut done = false;
        while let Some(line) = child.line() {
            eprintln!("{size}: {line}");
            done |= line == "done";
        }
        assert!(done, "{size}: the process ended early");
    }
}
