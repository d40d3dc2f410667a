//! An engine on a disk that does as it is told.

use kubestore_conformance::ManualClock;
use kubestore_kv::{Kv, KvError, ListRequest, PutRequest, WriteOutcome};
use tempfile::TempDir;

use super::super::{fake::FakeDisk, ledger::Ledger, opening::Opening, thread::Thread};
use crate::{Embedded, builder::EmbeddedBuilder, engine::Core};

/// Room held back, in bytes.
pub(super) const RESERVE: u64 = 64 << 10;

pub(super) struct Rig {
    pub(super) kv: Embedded,
    pub(super) disk: FakeDisk,
    pub(super) clock: ManualClock,
    pub(super) dir: TempDir,
}

impl Rig {
    pub(super) async fn new() -> Self {
        let (dir, disk, clock) = (TempDir::new().unwrap(), FakeDisk::default(), ManualClock::new());
        let kv = open(&dir, &disk, &clock).await;
        Self { kv, disk, clock, dir }
    }

    pub(super) async fn reopen(self) -> Self {
        self.kv.close().await;
        let kv = open(&self.dir, &self.disk, &self.clock).await;
        Self { kv, ..self }
    }

    pub(super) async fn keys(&self) -> Vec<String> {
        let list = self.kv.list(ListRequest::new("")).await.unwrap();
        list.kvs.iter().map(|kv| String::from_utf8(kv.key.to_vec()).unwrap()).collect()
    }

    pub(super) async fn head(&self) -> i64 {
        self.kv.status().await.unwrap().head.0
    }
}

pub(super) async fn open(dir: &TempDir, disk: &FakeDisk, clock: &ManualClock) -> Embedded {
    let disk = disk.clone();
    let options = EmbeddedBuilder::new().clock(std::sync::Arc::new(clock.clone())).into_options();
    let started = Thread::start(dir.path(), options, move |path| {
        Ledger::open_with(path, RESERVE, |data, opening| {
            if matches!(opening, Opening::Make) {
                std::fs::create_dir_all(data)?;
            }
            Ok(disk.base())
        })
    });
    let (thread, shared) = started.await.unwrap();
    Embedded::start(Core::durable(thread, shared)).unwrap()
}

pub(super) async fn create(kv: &Embedded, key: &str) -> Result<i64, KvError> {
    match kv.optimistic_put(PutRequest::create(key.to_owned(), "x")).await? {
        WriteOutcome::Done { revision } => Ok(revision.0),
        other => panic!("expected the write to happen, got {other:?}"),
    }
}

pub(super) fn spawn_create(kv: &Embedded, key: &str) -> tokio::task::JoinHandle<Result<i64, KvError>> {
    let (kv, key) = (kv.clone(), key.to_owned());
    tokio::spawn(async move { create(&kv, &key).await })
}

/// Numbers that are the same for the same seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    /// One below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// How often a test repeats what it is about: `small`, unless the variable says otherwise.
pub(super) fn times(variable: &str, small: usize) -> usize {
    std::env::var(variable).ok().map_or(small, |value| value.parse().unwrap())
}
