//! A base in memory that can be held up, that fails when it is told to, and whose power can be cut.
//!
//! It promises what the real one does and no more: batches that were written are there in their order, up to any of
//! them; those before the last sync are all there.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, io,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex},
};

use kubestore_kv::BoxError;

use super::{
    base::{Base, Batch, Visit, WriteError},
    mark::Acknowledged,
};

/// How the next writes end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Refused; whether it is there when the base is opened again.
    Refused {
        full: bool,
        lands: bool,
    },
    /// Refused, and the base does not open again.
    RefusedForGood,
    NotSynced,
    Panics,
}

/// When in a write the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    /// The batch is written, but not synced.
    Written,
    /// It is synced, but nobody was told.
    Synced,
}

/// The disk, which outlives every opening of it.
#[derive(Clone, Default)]
pub(super) struct FakeDisk(Arc<(Mutex<Inner>, Condvar)>);

#[derive(Default)]
struct Inner {
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The entries at the last sync, and what was written since.
    durable: BTreeMap<Vec<u8>, Vec<u8>>,
    unsynced: Vec<Batch>,
    faults: VecDeque<Fault>,
    held: bool,
    /// Writes that have begun.
    begun: usize,
    syncs: usize,
    broken: bool,
    /// The write whose number this is loses power, at that moment.
    cut: Option<(usize, Moment)>,
    dead: bool,
    /// Bytes that all entries may take, without what the file holds back as long as it is there.
    capacity: Option<(usize, PathBuf)>,
}

impl FakeDisk {
    pub(super) fn base(&self) -> Box<dyn Base> {
        Box::new(FakeBase { disk: self.clone() })
    }

    pub(super) fn fail(&self, fault: Fault) {
        self.0.0.lock().unwrap().faults.push_back(fault);
    }

    /// Writes that begin from now on do not end before [`release`](Self::release).
    pub(super) fn hold(&self) {
        self.0.0.lock().unwrap().held = true;
    }

    pub(super) fn release(&self) {
        self.0.0.lock().unwrap().held = false;
        self.0.1.notify_all();
    }

    /// Waits until `count` writes have begun.
    pub(super) fn wait_for_writes(&self, count: usize) {
        let inner = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(inner, |inner| inner.begun < count).unwrap());
    }

    pub(super) fn begun(&self) -> usize {
        self.0.0.lock().unwrap().begun
    }

    pub(super) fn syncs(&self) -> usize {
        self.0.0.lock().unwrap().syncs
    }

    /// Cuts the power in the write that comes `after` that many others. Nothing is taken any more from then on.
    pub(super) fn cut_power(&self, after: usize, moment: Moment) {
        let mut inner = self.0.0.lock().unwrap();
        inner.cut = Some((inner.begun + 1 + after, moment));
    }

    /// Makes the disk one of `bytes`, of which the file at `reserve` holds some back.
    pub(super) fn limit(&self, bytes: usize, reserve: PathBuf) {
        self.0.0.lock().unwrap().capacity = Some((bytes, reserve));
    }

    /// How many written batches are not synced.
    pub(super) fn unsynced(&self) -> usize {
        self.0.0.lock().unwrap().unsynced.len()
    }

    /// Switches it on again. Of what was not synced, the first `survive` batches are there.
    pub(super) fn restore_power(&self, survive: usize) {
        let mut inner = self.0.0.lock().unwrap();
        let unsynced = std::mem::take(&mut inner.unsynced);
        for batch in unsynced.iter().take(survive) {
            apply(&mut inner.durable, batch);
        }
        inner.entries = inner.durable.clone();
        inner.dead = false;
        inner.cut = None;
    }
}

/// Without what is on it: values may be anybody's.
impl fmt::Debug for FakeDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeDisk").finish_non_exhaustive()
    }
}

fn apply(entries: &mut BTreeMap<Vec<u8>, Vec<u8>>, batch: &Batch) {
    for (key, value) in &batch.puts {
        entries.insert(key.clone(), value.clone());
    }
    for key in &batch.removes {
        entries.remove(key);
    }
}

impl Inner {
    fn write(&mut self, batch: &Batch, sync: bool) -> Result<(), WriteError> {
        let moment = self.cut.filter(|(write, _)| *write == self.begun).map(|(_, moment)| moment);
        if self.dead || moment == Some(Moment::Before) {
            return self.die();
        }
        if self.is_too_much(batch) {
            return Err(WriteError::Refused(io::Error::from(io::ErrorKind::StorageFull).into()));
        }
        apply(&mut self.entries, batch);
        self.unsynced.push(batch.clone());
        if moment == Some(Moment::Written) {
            return self.die();
        }
        if sync {
            self.syncs += 1;
            for batch in std::mem::take(&mut self.unsynced) {
                apply(&mut self.durable, &batch);
            }
        }
        if moment == Some(Moment::Synced) { self.die() } else { Ok(()) }
    }

    fn is_too_much(&self, batch: &Batch) -> bool {
        let Some((bytes, reserve)) = &self.capacity else { return false };
        let held = std::fs::metadata(reserve).map_or(0, |file| usize::try_from(file.len()).unwrap());
        let mut entries = self.entries.clone();
        apply(&mut entries, batch);
        entries.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() + held > *bytes
    }

    fn die(&mut self) -> Result<(), WriteError> {
        self.dead = true;
        Err(WriteError::NotSynced("the power is out".into()))
    }
}

#[derive(Debug)]
struct FakeBase {
    disk: FakeDisk,
}

impl Base for FakeBase {
    fn write(&mut self, batch: &Batch, sync: bool) -> Result<(), WriteError> {
        let (lock, changed) = &*self.disk.0;
        let mut inner = lock.lock().unwrap();
        inner.begun += 1;
        changed.notify_all();
        let mut inner = changed.wait_while(inner, |inner| inner.held).unwrap();
        match inner.faults.pop_front() {
            None => inner.write(batch, sync),
            Some(Fault::Refused { full, lands }) => {
                if lands {
                    inner.write(batch, false)?;
                }
                let kind = if full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
                Err(WriteError::Refused(io::Error::from(kind).into()))
            }
            Some(Fault::RefusedForGood) => {
                inner.broken = true;
                Err(WriteError::Refused("no more".into()))
            }
            Some(Fault::NotSynced) => Err(WriteError::NotSynced("the cable is out".into())),
            Some(Fault::Panics) => {
                drop(inner);
                panic!("a fault of the base");
            }
        }
    }

    fn scan(&self, visit: &mut Visit<'_>) -> Result<(), BoxError> {
        let entries = self.disk.0.0.lock().unwrap().entries.clone();
        entries.iter().try_for_each(|(key, value)| visit(key, value))
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BoxError> {
        Ok(self.disk.0.0.lock().unwrap().entries.get(key).cloned())
    }

    fn is_failed(&self) -> bool {
        false
    }

    fn reopen(&mut self, _acknowledged: Acknowledged) -> Result<(), BoxError> {
        if self.disk.0.0.lock().unwrap().broken { Err("it does not open".into()) } else { Ok(()) }
    }

    fn reclaim(&mut self, _living: u64) -> bool {
        true
    }

    fn reclaim_failed(&mut self) -> bool {
        false
    }

    fn disk_bytes(&self) -> u64 {
        let inner = self.disk.0.0.lock().unwrap();
        inner.entries.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum()
    }
}
