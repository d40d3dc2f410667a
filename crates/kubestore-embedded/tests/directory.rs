//! The durable form: what a restart keeps, who may open a directory, what compaction gives back.

#![cfg(feature = "durable")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use common::{
    ManualClock, SOON, all,
    child::{Running, die_with_parent, tell},
    create, delete, done, events, head, put, value, value_at, watch_from,
};
use kubestore_embedded::{CheckOptions, Embedded};
use kubestore_kv::{
    GetRequest, Kv, KvError, KvErrorKind, LeaseId, ListRequest, PutRequest, Revision, WatchGroup,
    WatchRequest,
};
use tempfile::TempDir;

async fn open(dir: &Path) -> Embedded {
    Embedded::open(dir).await.unwrap()
}

async fn refused(dir: &Path) -> KvError {
    match Embedded::open(dir).await {
        Err(error) => {
            assert_eq!(error.operation(), "open");
            assert!(error.message().contains(dir.to_str().unwrap()), "{error} names the directory");
            error
        }
        Ok(kv) => panic!("expected an error, got {kv:?}"),
    }
}

/// Every file below `dir` with its bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await;
    create(&kv, "a", "1").await; // 2
    put(&kv, "a", "2").await; // 3
    create(&kv, "b", "1").await; // 4
    delete(&kv, "b").await; // 5
    create(&kv, "c", "").await; // 6
    put(&kv, "a", "3").await; // 7
    kv.close().await;

    let kv = open(dir.path()).await;
    assert_eq!(head(&kv).await, 7);
    assert_eq!(all(&kv, "").await, ["a=3", "c="]);
    let a = kv.get(GetRequest::new("a")).await.unwrap().kv.unwrap();
    assert_eq!((a.version, a.create_revision, a.mod_revision), (3, Revision(2), Revision(7)));
    let expected = [None, Some("1"), Some("2"), Some("2"), Some("2"), Some("2"), Some("3")];
    for (at, expected) in (1..).zip(expected) {
        assert_eq!(value_at(&kv, "a", at).await.unwrap().as_deref(), expected, "at {at}");
    }
    assert_eq!(value_at(&kv, "b", 4).await.unwrap().as_deref(), Some("1"));
    let request = WatchRequest::new(WatchGroup::new(), common::prefix("")).from(Revision(3)).with_previous();
    let mut watch = kv.watch(request).await.unwrap();
    let expected =
        ["put a=2 @3 was 1 @2", "put b=1 @4", "delete b @5 was 1 @4", "put c= @6", "put a=3 @7 was 2 @3"];
    assert_eq!(events(&mut watch, 5).await, expected);
    assert_eq!(create(&kv, "b", "2").await, 8);
    kv.compact(Revision(7)).await.unwrap();
    drop(kv);

    let kv = open(dir.path()).await;
    let status = kv.status().await.unwrap();
    assert_eq!((status.head, status.compacted), (Revision(8), Some(Revision(7))));
    assert!(status.db_size.unwrap() > 0);
    assert_eq!(value_at(&kv, "a", 6).await.unwrap_err().kind(), KvErrorKind::Compacted);
    assert_eq!(all(&kv, "").await, ["a=3", "b=2", "c="]);
    assert_eq!(events(&mut watch_from(&kv, "", 7).await, 2).await, ["put a=3 @7", "put b=2 @8"]);
    assert_eq!(common::failure(&mut watch_from(&kv, "", 6).await).await.kind(), KvErrorKind::Compacted);
}

#[tokio::test]
async fn a_deletion_at_the_compacted_revision_outlives_a_restart() {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await;
    create(&kv, "a", "1").await; // 2
    delete(&kv, "a").await; // 3
    kv.compact(Revision(3)).await.unwrap();
    drop(kv);
    let kv = open(dir.path()).await;
    assert_eq!(events(&mut watch_from(&kv, "", 3).await, 1).await, ["delete a @3"]);
    assert_eq!(value(&kv, "a").await, None);
    create(&kv, "a", "2").await; // 4
    kv.compact(Revision(4)).await.unwrap();
    drop(kv);
    assert_eq!(all(&open(dir.path()).await, "").await, ["a=2"]);
}

#[tokio::test]
async fn leases_keep_their_deadlines_over_a_restart() {
    let dir = TempDir::new().unwrap();
    let clock = ManualClock::new();
    let open = async || Embedded::builder().clock(Arc::new(clock.clone())).open(dir.path()).await.unwrap();
    let leased = |key: &'static str, lease| PutRequest::create(key, "x").with_lease(Some(lease));
    let kv = open().await;
    let short = kv.grant_lease(Duration::from_secs(60)).await.unwrap().id;
    let long = kv.grant_lease(Duration::from_secs(1000)).await.unwrap().id;
    for (key, lease) in [("s/b", short), ("s/a", short), ("l", long)] {
        done(kv.optimistic_put(leased(key, lease)).await); // 2 to 4
    }
    clock.advance(Duration::from_secs(10));
    drop(kv);

    clock.advance(Duration::from_secs(20));
    let kv = open().await;
    let info = kv.lease_info(short).await.unwrap();
    assert_eq!((info.granted, info.remaining), (Duration::from_secs(60), Some(Duration::from_secs(30))));
    assert_eq!(kv.get(GetRequest::new("l")).await.unwrap().kv.unwrap().lease, Some(long));
    drop(kv);

    clock.advance(Duration::from_secs(31));
    let kv = open().await;
    assert_eq!(events(&mut watch_from(&kv, "s/", 5).await, 2).await, ["delete s/a @5", "delete s/b @5"]);
    assert_eq!(all(&kv, "").await, ["l=x"]);
    assert_eq!(kv.lease_info(short).await.unwrap_err().kind(), KvErrorKind::LeaseNotFound);
    let mut watch = common::watch_now(&kv, "").await;
    clock.advance(Duration::from_secs(2000));
    assert_eq!(events(&mut watch, 1).await, ["delete l @6"]);
}

#[tokio::test]
async fn numbers_of_leases_are_not_used_again_after_a_restart() {
    let dir = TempDir::new().unwrap();
    let mut last = LeaseId(0);
    for _ in 0..3 {
        let kv = open(dir.path()).await;
        let id = kv.grant_lease(Duration::from_secs(60)).await.unwrap().id;
        assert!(id > last);
        kv.revoke_lease(id).await.unwrap();
        last = id;
    }
}

#[tokio::test]
async fn a_directory_can_be_opened_right_after_the_drop() {
    let dir = TempDir::new().unwrap();
    for round in 0..10 {
        let kv = open(dir.path()).await;
        assert_eq!(kv.count("".into()).await.unwrap(), round);
        create(&kv, &format!("k{round}"), "x").await;
        // A write whose future is dropped is still done, or not at all.
        drop(kv.optimistic_put(PutRequest::create("never polled", "x")));
    }
}

#[tokio::test]
async fn a_dropped_write_does_not_hold_up_others() {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await;
    for number in 0..200 {
        // Without a budget, so that each gets as far as the queue.
        let write = kv.optimistic_put(PutRequest::create(format!("dropped/{number}"), "x"));
        let mut write = tokio::task::unconstrained(write);
        let polled = futures_util::FutureExt::now_or_never(&mut write);
        assert!(polled.is_none(), "a durable write takes a sync");
        drop(write);
    }
    let at = create(&kv, "after", "x").await;
    assert_eq!(at, 202, "what was asked first came first");
    assert_eq!(kv.count("dropped/".into()).await.unwrap(), 200);
}

#[tokio::test]
async fn nothing_outlives_the_engine() {
    let dir = TempDir::new().unwrap();
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = alive();
    for kv in [Embedded::in_memory(), open(dir.path()).await] {
        kv.grant_lease(Duration::from_secs(1000)).await.unwrap();
        assert_eq!(alive(), before + 1, "the task that ends leases");
        drop(kv);
        let started = Instant::now();
        while alive() > before {
            assert!(started.elapsed() < SOON, "a task is left over");
            tokio::task::yield_now().await;
        }
    }
    let fds = fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
    assert_eq!(fds.filter(|target| target.starts_with(dir.path())).count(), 0, "a file is left open");
}

#[tokio::test]
async fn a_second_engine_of_this_process_is_refused() {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await;
    create(&kv, "a", "1").await;
    let started = Instant::now();
    let error = refused(dir.path()).await;
    assert!(started.elapsed() < Duration::from_millis(500));
    assert_eq!(error.kind(), KvErrorKind::Unavailable);
    assert!(error.message().contains("this process"), "{error}");
    assert_eq!(value(&kv, "a").await.as_deref(), Some("1"));
}

const CHILD: &str = "KUBESTORE_TEST_DIRECTORY";

/// Not a test by itself: the other process of the next test. It does nothing when nobody asks for it.
#[tokio::test]
async fn as_another_process() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    die_with_parent();
    let kv = open(Path::new(&dir)).await;
    create(&kv, "from/the/child", "x").await;
    tell("\nopen");
    std::future::pending().await
}

#[tokio::test]
async fn a_second_process_is_refused_at_once() {
    let dir = TempDir::new().unwrap();
    let mut child = Running::start("as_another_process", CHILD, dir.path().as_os_str());
    assert!(child.tells("open"), "the child opens the directory");
    let started = Instant::now();
    let error = refused(dir.path()).await;
    assert!(started.elapsed() < Duration::from_millis(500));
    assert_eq!(error.kind(), KvErrorKind::Unavailable);
    assert!(error.message().contains(&format!("process {}", child.id())), "{error}");
    child.kill();
    let kv = open(dir.path()).await;
    assert_eq!(all(&kv, "").await, ["from/the/child=x"]);
}

#[tokio::test]
async fn a_newer_format_is_refused_and_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    create(&open(dir.path()).await, "a", "1").await;
    fs::write(dir.path().join("FORMAT"), "kubestore-embedded 2\n").unwrap();
    let before = contents(dir.path());
    let error = refused(dir.path()).await;
    assert_eq!(error.kind(), KvErrorKind::Unsupported);
    assert!(error.message().contains("format is 2") && error.message().contains("newer version"), "{error}");
    assert!(contents(dir.path()) == before, "nothing was changed");
    for garbage in ["kubestore-embedded", "kubestore-embedded 0\n", "kubestore-embedded x\n", "etcd\n", ""] {
        fs::write(dir.path().join("FORMAT"), garbage).unwrap();
        assert_eq!(refused(dir.path()).await.kind(), KvErrorKind::Corrupt, "{garbage:?}");
    }
    fs::write(dir.path().join("FORMAT"), "kubestore-embedded 1\n").unwrap();
    assert_eq!(all(&open(dir.path()).await, "").await, ["a=1"]);
}

#[tokio::test]
async fn what_is_not_ours_is_refused_and_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("holiday.txt"), "sun").unwrap();
    let before = contents(dir.path());
    let error = refused(dir.path()).await;
    assert_eq!(error.kind(), KvErrorKind::InvalidArgument);
    assert!(error.message().contains("holiday.txt"), "{error}");
    assert!(contents(dir.path()) == before);
    let file = dir.path().join("holiday.txt");
    assert_eq!(refused(&file).await.kind(), KvErrorKind::InvalidArgument);
    assert_eq!(refused(&file.join("below")).await.kind(), KvErrorKind::InvalidArgument);
    assert!(contents(dir.path()) == before);
}

#[tokio::test]
async fn an_interrupted_first_opening_is_begun_anew() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("data.new")).unwrap();
    fs::write(dir.path().join("data.new").join("half"), "x").unwrap();
    fs::write(dir.path().join("lock"), "123\n").unwrap();
    fs::write(dir.path().join("FORMAT"), "").unwrap();
    let kv = open(dir.path()).await;
    assert_eq!(create(&kv, "a", "1").await, 2);
    drop(kv);
    assert_eq!(all(&open(dir.path()).await, "").await, ["a=1"]);
    assert!(!dir.path().join("data.new").exists());
}

#[tokio::test]
async fn only_its_owner_may_enter_a_directory() {
    let parent = TempDir::new().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let made = parent.path().join("new").join("data-dir");
    drop(open(&made).await);
    assert_eq!((mode(&made), mode(&made.join("data"))), (0o700, 0o700));
    for file in ["FORMAT", "lock", "acknowledged", "reserve"] {
        assert_eq!(mode(&made.join(file)), 0o600, "{file}");
    }
    let given = parent.path().join("given");
    fs::create_dir(&given).unwrap();
    fs::set_permissions(&given, fs::Permissions::from_mode(0o755)).unwrap();
    drop(open(&given).await);
    assert_eq!(
        (mode(&given), mode(&given.join("data"))),
        (0o755, 0o700),
        "one that was there is left as it was"
    );
}

/// Not a test by itself: somebody who may not do what is tried, in the next test.
#[tokio::test]
async fn as_somebody_else() {
    let Some(dir) = std::env::var_os(OTHER) else { return };
    die_with_parent();
    for (name, says) in [
        ("unreadable", "give this user the right to write it"),
        ("unwritable", "give this user the right to write it"),
        ("unwritable/new", "give this user the right to write it"),
    ] {
        let error = refused(&Path::new(&dir).join(name)).await;
        assert_eq!(error.kind(), KvErrorKind::PermissionDenied, "{error:?}");
        assert!(error.message().contains(says), "{error}");
        assert!(std::error::Error::source(&error).is_some(), "{error:?}");
    }
    let error =
        Embedded::check(Path::new(&dir).join("unreadable"), CheckOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::PermissionDenied, "{error:?}");
    tell("\ndone");
}

const OTHER: &str = "KUBESTORE_TEST_OTHER";

#[tokio::test]
async fn a_directory_of_somebody_else_is_refused_and_left_as_it_is() {
    let dir = TempDir::new().unwrap();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for name in ["unreadable", "unwritable"] {
        create(&open(&dir.path().join(name)).await, "a", "1").await;
    }
    let before = contents(dir.path());
    set(dir.path(), 0o755);
    set(&dir.path().join("unreadable"), 0o000);
    set(&dir.path().join("unwritable"), 0o555);
    set(&dir.path().join("unwritable/lock"), 0o444);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "as_somebody_else", "--nocapture"]).env(OTHER, dir.path());
    // Whoever may do everything has to become somebody who may not.
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534).current_dir("/");
    }
    let mut child = Running::spawn(command);
    assert!(child.tells("done"));
    set(&dir.path().join("unreadable"), 0o700);
    assert!(contents(dir.path()) == before);
    set(&dir.path().join("unwritable"), 0o700);
    set(&dir.path().join("unwritable/lock"), 0o600);
    for name in ["unreadable", "unwritable"] {
        assert_eq!(all(&open(&dir.path().join(name)).await, "").await, ["a=1"]);
    }
}

/// Waits until the directory takes less than `bytes`. Nobody tells when: it happens beside reads and writes.
async fn shrinks_below(kv: &Embedded, bytes: u64) {
    let started = Instant::now();
    loop {
        let size = kv.status().await.unwrap().db_size.unwrap();
        if size < bytes {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{size} bytes are still taken");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Puts 20 keys of 100 KiB over and over; the values are all different.
async fn fill(kv: &Embedded, rounds: usize) {
    for round in 0..rounds {
        let writes = (0..20).map(|key| {
            let value = format!("{round:05}").repeat(20 << 10);
            async move { put(kv, &format!("k{key:02}"), &value).await }
        });
        futures_util::future::join_all(writes).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compaction_gives_space_back_beside_reads_and_writes() {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await;
    fill(&kv, 45).await;
    let full = kv.status().await.unwrap().db_size.unwrap();
    assert!(full > 80 << 20, "{full}");
    let at = head(&kv).await;
    kv.compact(Revision(at)).await.unwrap();
    for number in 0..200 {
        let at = create(&kv, &format!("meanwhile/{number}"), "x").await;
        let list = kv.list(ListRequest::new("").at(Revision(at)).keys_only()).await.unwrap();
        assert_eq!(list.kvs.len(), 21 + number);
    }
    shrinks_below(&kv, 45 << 20).await;
    drop(kv);
    let kv = open(dir.path()).await;
    shrinks_below(&kv, 45 << 20).await;
    assert_eq!(kv.count("k".into()).await.unwrap(), 20);
    assert_eq!(kv.count("meanwhile/".into()).await.unwrap(), 200);
    assert_eq!(value(&kv, "k07").await.unwrap(), "00044".repeat(20 << 10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_compaction_is_finished_after_the_restart() {
    let dir = TempDir::new().unwrap();
    let kv = open(dir.path()).await;
    fill(&kv, 45).await;
    for number in 0..500 {
        create(&kv, &format!("gone/{number:04}"), "x").await;
        delete(&kv, &format!("gone/{number:04}")).await;
    }
    let at = head(&kv).await;
    kv.compact(Revision(at)).await.unwrap();
    drop(kv);
    let kv = open(dir.path()).await;
    let status = kv.status().await.unwrap();
    assert_eq!((status.head, status.compacted), (Revision(at), Some(Revision(at))));
    assert_eq!(all(&kv, "gone/").await, Vec::<String>::new());
    shrinks_below(&kv, 45 << 20).await;
    drop(kv);
    let kv = open(dir.path()).await;
    assert_eq!(all(&kv, "gone/").await, Vec::<String>::new());
    assert_eq!(kv.count("k".into()).await.unwrap(), 20);
    assert_eq!(create(&kv, "gone/0001", "back").await, at + 1);
}
