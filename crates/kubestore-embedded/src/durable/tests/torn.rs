//! Power cuts on the files of `fjall`: of what was written after a sync, any pages are there, or zeros, or rubbish.
//!
//! The directory of an engine at work is copied between two of its writes. The copy is then treated as if the last
//! syncs of its journal had not happened yet: what they covered is torn. It must open with everything that was
//! acknowledged before, and whatever else it has must be the next of what was written.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        mpsc::{self, Sender},
    },
    time::Duration,
};

use futures_util::{StreamExt, future::join_all};
use kubestore_kv::{
    BoxError, DeleteRequest, GetRequest, Kv, KvEvent, ListRequest, PutRequest, Revision, WatchGroup,
    WatchItem, WatchRequest, WatchTarget, WriteOutcome,
};
use tempfile::TempDir;

use super::{
    super::{
        base::{Base, Batch, Visit, WriteError},
        fjall::FjallBase,
        journal,
        ledger::Ledger,
        mark::Acknowledged,
        opening::Opening,
        thread::Thread,
    },
    rig::{Random, times},
};
use crate::{Embedded, builder::EmbeddedBuilder, engine::Core};

/// The smallest piece that a disk writes or does not.
const SECTOR: u64 = 512;

/// One moment of a directory.
struct Copy {
    dir: TempDir,
    /// The journal, and where it ended after each of the last syncs, with the mark that was written then.
    journal: PathBuf,
    syncs: Vec<(u64, Vec<u8>)>,
}

/// The real base, which is copied every now and then just before it writes.
#[derive(Debug)]
struct Watched {
    base: FjallBase,
    directory: PathBuf,
    every: usize,
    writes: usize,
    copies: Sender<Moment>,
    /// Marks as they were before the last writes.
    marks: Vec<Vec<u8>>,
}

type Moment = (TempDir, Vec<Vec<u8>>);

/// Marks remembered: how many syncs may be taken back.
const SYNCS: usize = 4;

impl Base for Watched {
    fn write(&mut self, batch: &Batch, sync: bool) -> Result<(), WriteError> {
        self.writes += 1;
        if let Ok(mark) = fs::read(self.directory.join("acknowledged"))
            && self.marks.last() != Some(&mark)
        {
            self.marks.push(mark);
            let surplus = self.marks.len().saturating_sub(SYNCS);
            self.marks.drain(..surplus);
        }
        if self.writes.is_multiple_of(self.every)
            && let Some(copy) = copy_at_rest(&self.directory)
        {
            // Nobody wants more copies once there are enough.
            let _ = self.copies.send((copy, self.marks.clone()));
        }
        self.base.write(batch, sync)
    }

    fn scan(&self, visit: &mut Visit<'_>) -> Result<(), BoxError> {
        self.base.scan(visit)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BoxError> {
        self.base.get(key)
    }

    fn is_failed(&self) -> bool {
        self.base.is_failed()
    }

    fn reopen(&mut self, acknowledged: Acknowledged) -> Result<(), BoxError> {
        self.base.reopen(acknowledged)
    }

    fn reclaim(&mut self, living: u64) -> bool {
        self.base.reclaim(living)
    }

    fn reclaim_failed(&mut self) -> bool {
        self.base.reclaim_failed()
    }

    fn disk_bytes(&self) -> u64 {
        self.base.disk_bytes()
    }
}

/// Files below `dir`, with what tells that they changed.
fn listing(dir: &Path) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
    let mut files = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().filter_map(Result::ok) {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(dir).unwrap().to_owned();
                files.insert(name, (metadata.len(), metadata.modified().unwrap()));
            }
        }
    }
    files
}

/// A copy, unless the base changed its tables meanwhile.
fn copy_at_rest(from: &Path) -> Option<TempDir> {
    let before = listing(from);
    let to = TempDir::new().unwrap();
    for name in before.keys() {
        fs::create_dir_all(to.path().join(name).parent()?).unwrap();
        copy_sparse(&from.join(name), &to.path().join(name)).ok()?;
    }
    (listing(from) == before).then_some(to)
}

/// Copies a file without the zeros at its end, which are kept as a hole.
fn copy_sparse(from: &Path, to: &Path) -> std::io::Result<()> {
    let bytes = fs::read(from)?;
    let content = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    fs::write(to, &bytes[..content])?;
    fs::OpenOptions::new().write(true).open(to)?.set_len(bytes.len() as u64)
}

async fn open_watched(dir: &Path, every: usize, copies: Sender<Moment>) -> Embedded {
    let directory = dir.to_owned();
    let started = Thread::start(dir, EmbeddedBuilder::new().into_options(), move |path| {
        let copies = Mutex::new(copies);
        Ledger::open_with(path, 0, move |data, opening| {
            let base = match opening {
                Opening::Make => FjallBase::create(data)?,
                Opening::Again(acknowledged) => FjallBase::open(data, acknowledged)?,
            };
            let copies = copies.lock().unwrap().clone();
            let (directory, marks) = (directory.clone(), Vec::new());
            Ok(Box::new(Watched { base, directory, every, writes: 0, copies, marks }))
        })
    });
    let (thread, shared) = started.await.unwrap();
    Embedded::start(Core::durable(thread, shared)).unwrap()
}

/// Eight writers of values of all sizes, leases and compactions, until there are `wanted` copies.
async fn copies(wanted: usize) -> Vec<Copy> {
    let dir = TempDir::new().unwrap();
    let (sender, receiver) = mpsc::channel();
    let kv = open_watched(dir.path(), 23, sender).await;
    let gathered = Arc::new(Mutex::new(Vec::new()));
    let mut round = 0;
    while gathered.lock().unwrap().len() < wanted {
        round += 1;
        let lease = kv.grant_lease(Duration::from_secs(1_000_000)).await.unwrap().id;
        let writers = (0..8).map(|writer| {
            let kv = kv.clone();
            async move {
                for write in 0..20_usize {
                    let key = format!("w{writer}/{}", write % 5);
                    let length = [1, 60, 700, 3000, 20_000][(write + writer) % 5];
                    let value = format!("{round}/{write}|").repeat(length / 6 + 1);
                    let at = kv.get(GetRequest::new(key.clone())).await.unwrap().kv;
                    let at = at.map_or(Revision(0), |kv| kv.mod_revision);
                    let put = PutRequest::update(key.clone(), value, at);
                    let put =
                        kv.optimistic_put(put.with_lease((write % 7 == 0).then_some(lease))).await.unwrap();
                    let WriteOutcome::Done { revision } = put else { panic!("nobody else writes {key}") };
                    if write % 6 == 5 {
                        kv.optimistic_delete(DeleteRequest::new(key, revision)).await.unwrap();
                    }
                }
            }
        });
        join_all(writers).await;
        kv.revoke_lease(lease).await.unwrap();
        if round % 4 == 0 {
            let head = kv.status().await.unwrap().head;
            kv.compact(Revision(head.0 - 300)).await.unwrap();
        }
        gathered.lock().unwrap().extend(receiver.try_iter());
    }
    kv.close().await;
    let moments = std::mem::take(&mut *gathered.lock().unwrap());
    moments.into_iter().take(wanted).filter_map(|(dir, marks)| Copy::new(dir, marks)).collect()
}

impl Copy {
    /// `None` when the journal was begun anew within the last syncs.
    fn new(dir: TempDir, marks: Vec<Vec<u8>>) -> Option<Self> {
        let journals = journal::read_all(&dir.path().join("data")).unwrap();
        let newest = journals.last()?;
        assert!(!newest.torn, "the copy was made while nothing was written");
        let ends: BTreeMap<u64, u64> =
            newest.summaries.iter().map(|(end, meta)| (meta.sequence, *end)).collect();
        let sequence = |mark: &[u8]| u64::from_be_bytes(*mark.first_chunk().unwrap());
        let syncs = marks
            .into_iter()
            .filter_map(|mark| Some((*ends.get(&sequence(&mark))?, mark)))
            .collect::<Vec<_>>();
        (syncs.len() > 1).then(|| Self { journal: newest.path.clone(), dir, syncs })
    }

    /// A directory as a power cut may have left it, if only the first `synced` syncs happened.
    fn torn(&self, synced: usize, random: &mut Random) -> (TempDir, &'static str) {
        let (end, mark) = &self.syncs[synced];
        let torn = TempDir::new().unwrap();
        for name in listing(self.dir.path()).keys() {
            fs::create_dir_all(torn.path().join(name).parent().unwrap()).unwrap();
            copy_sparse(&self.dir.path().join(name), &torn.path().join(name)).unwrap();
        }
        fs::write(torn.path().join("acknowledged"), mark).unwrap();
        let journal = torn.path().join(self.journal.strip_prefix(self.dir.path()).unwrap());
        let mut bytes = fs::read(&journal).unwrap();
        let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let (from, way) = (usize::try_from(*end).unwrap(), random.below(4));
        match way {
            // The length was not written.
            0 => bytes.truncate(from + random.below(written - from + 1)),
            // Some sectors were not: all that were there before hold zeros, or what else was on the disk.
            _ => {
                let sector = usize::try_from(SECTOR).unwrap();
                for start in (from / sector * sector..written).step_by(sector) {
                    if random.below(3) > 0 {
                        continue;
                    }
                    let lost = start.max(from)..(start + sector).min(bytes.len());
                    match way {
                        1 => bytes[lost].fill(0),
                        2 => bytes[lost]
                            .iter_mut()
                            .for_each(|byte| *byte = u8::try_from(random.below(256)).unwrap()),
                        _ => bytes[lost].fill([1, 2, 3, 4, 0xff][random.below(5)]),
                    }
                }
            }
        }
        fs::write(&journal, bytes).unwrap();
        (torn, ["cut short", "zeros", "rubbish", "a pattern"][way])
    }
}

/// Head, and everything since the compacted revision.
async fn history(dir: &Path) -> (i64, Vec<KvEvent>, Embedded) {
    let kv = Embedded::builder().reserve_bytes(0).open(dir).await.unwrap();
    let status = kv.status().await.unwrap();
    let from = status.compacted.unwrap().0.max(1) + 1;
    let everything = WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix("".into()));
    let mut watch = kv.watch(everything.from(Revision(from)).with_previous()).await.unwrap();
    let mut events: Vec<KvEvent> = Vec::new();
    while status.head.0 >= from && events.last().is_none_or(|last| last.kv.mod_revision < status.head) {
        if let Some(Ok(WatchItem::Events { events: more, .. })) = watch.next().await {
            events.extend(more);
        }
    }
    (status.head.0, events, kv)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_torn_end_of_the_journal_loses_nothing_that_was_acknowledged() {
    let cuts = times("KUBESTORE_TEARS", 40);
    let mut random = Random(0x7ea4);
    let copies = copies((cuts / 10).clamp(4, 60)).await;
    assert!(copies.len() > 2, "{} copies", copies.len());
    let mut complete = Vec::new();
    for copy in &copies {
        let (head, events, kv) = history(copy.dir.path()).await;
        kv.close().await;
        complete.push((head, events));
    }
    let (mut lost, mut ways) = (0, BTreeMap::new());
    for cut in 0..cuts {
        let copy = &copies[cut % copies.len()];
        let synced = random.below(copy.syncs.len() - 1);
        let (torn, way) = copy.torn(synced, &mut random);
        *ways.entry(way).or_insert(0) += 1;
        let acknowledged = i64::from_be_bytes(copy.syncs[synced].1[8..16].try_into().unwrap());
        let (whole_head, whole) = &complete[cut % copies.len()];
        let (head, found, kv) = history(torn.path()).await;
        assert!(head >= acknowledged, "cut {cut}, {way}: {head} of {acknowledged}");
        assert!(head <= *whole_head);
        lost += usize::from(head < *whole_head);
        // A compaction may be among what was lost: compared is what both still have.
        let from = whole.first().map_or(head, |event| event.kv.mod_revision.0);
        let common = |events: &[KvEvent]| {
            let within = events.iter().filter(|event| (from..=head).contains(&event.kv.mod_revision.0));
            within.map(|event| format!("{event:?}{:?}", event.kv.value)).collect::<Vec<_>>()
        };
        assert_eq!(common(&found), common(whole), "cut {cut}, {way}");
        let listed = kv.list(ListRequest::new("")).await.unwrap().kvs.len();
        let again = kv.optimistic_put(PutRequest::create(format!("after/{cut}"), "x")).await;
        assert!(again.is_ok() && listed > 0, "cut {cut}, {way}: {again:?}");
        kv.close().await;
        let (again, _, kv) = history(torn.path()).await;
        assert_eq!(again, head + 1, "cut {cut}, {way}: it opens again");
        kv.close().await;
    }
    eprintln!(
        "{cuts} torn journals of {} copies, {lost} without writes that were not acknowledged: {ways:?}",
        copies.len()
    );
    assert!(lost > cuts / 4, "{lost} of {cuts} tore off anything");
}
