//! A directory with its data: takes changes, makes them durable in one batch, and knows what was acknowledged.

use std::path::Path;

use kubestore_kv::{BoxError, KvError};

use super::{
    base::{Base, WriteError},
    codec::{META_KEY, Meta},
    directory::{Directory, is_full},
    draft::Draft,
    fjall::FjallBase,
    load::{Leftover, Loaded, load},
    mark::{Acknowledged, Mark},
    opening::{Opening, check_complete, create, open_mark, opening_error, read_mark},
    reserve::Reserve,
};
use crate::state::{Change, State};

/// Dead bytes that are worth a rewriting of the tables, if the living ones are not more.
const RECLAIM_BYTES: u64 = 32 << 20;
/// The same on a full disk, whatever the living ones are.
const RECLAIM_FULL_BYTES: u64 = 1 << 20;
/// Room that must be there besides before more is written after the disk was full.
const HYSTERESIS: u64 = 8 << 20;
/// A disk with less room than this is full, whatever else failed.
const LITTLE_ROOM: u64 = 1 << 20;

/// The open directory.
#[derive(Debug)]
pub(crate) struct Ledger {
    base: Box<dyn Base>,
    reserve: Reserve,
    mark: Mark,
    meta: Meta,
    /// Bytes of the entries that live, and of those that died since the tables were last rewritten.
    living: u64,
    dead: u64,
    /// Dead ones for whose sake the tables are being rewritten.
    reclaiming: u64,
    leftovers: Vec<Leftover>,
    /// The last batch that was synced.
    synced: u64,
    // Dropped last: it holds the lock.
    directory: Directory,
}

/// Why changes were not made durable.
#[derive(Debug)]
pub(crate) enum CommitError {
    /// They are not on disk and will not be; later ones may succeed, if the disk is not full.
    NotApplied { cause: BoxError, full: bool },
    /// They may be on disk. Nothing may be written after them.
    InDoubt(BoxError),
}

impl Ledger {
    /// Takes the directory and reads it.
    pub(crate) fn open(path: &Path, reserve_bytes: u64) -> Result<(Self, State), KvError> {
        Self::open_with(path, reserve_bytes, |data, opening| {
            let base = match opening {
                Opening::Make => FjallBase::create(data),
                Opening::Again(acknowledged) => FjallBase::open(data, acknowledged),
            };
            base.map(|base| Box::new(base) as Box<dyn Base>)
        })
    }

    /// The same on any base.
    pub(super) fn open_with<F>(path: &Path, reserve_bytes: u64, open: F) -> Result<(Self, State), KvError>
    where
        F: Fn(&Path, Opening) -> Result<Box<dyn Base>, BoxError>,
    {
        let directory = Directory::take(path)?;
        let mut mark = open_mark(&directory)?;
        let acknowledged = read_mark(&mut mark, &directory)?;
        if directory.is_fresh() {
            create(&directory, &mut mark, acknowledged, &open)?;
        }
        let reserve = Reserve::new(directory.reserve(), reserve_bytes);
        let opening = || open(&directory.data(), Opening::Again(acknowledged));
        let base = match opening() {
            // What is to be made room on must be open.
            Err(error) if is_full(error.as_ref()) && reserve.release().is_ok() => opening(),
            opened => opened,
        };
        let base = base.map_err(|error| opening_error(&directory, error))?;
        Self::start(directory, reserve, mark, acknowledged, base)
    }

    fn start(
        directory: Directory,
        reserve: Reserve,
        mark: Mark,
        acknowledged: Option<Acknowledged>,
        base: Box<dyn Base>,
    ) -> Result<(Self, State), KvError> {
        let Loaded { state, meta, bytes, mut leftovers } = load(base.as_ref(), directory.path())?;
        match acknowledged {
            Some(acknowledged) => check_complete(&directory, acknowledged, &meta)?,
            None if directory.is_fresh() => {}
            None => tracing::warn!(
                directory = %directory.path().display(),
                "the file acknowledged was missing: whether the newest writes are all there could not be checked"
            ),
        }
        if !directory.was_closed() {
            tracing::warn!(
                directory = %directory.path().display(), head = meta.head,
                "the directory was not closed; everything acknowledged is there"
            );
        }
        leftovers.reverse();
        let dead = base.disk_bytes().saturating_sub(bytes);
        let mut ledger = Self {
            base,
            reserve,
            mark,
            meta,
            living: bytes,
            dead,
            reclaiming: 0,
            leftovers,
            synced: meta.sequence,
            directory,
        };
        ledger.acknowledge();
        Ok((ledger, state))
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Sees to it that room is held back. The error says how much of it there is not.
    pub(crate) fn fill_reserve(&mut self) -> Result<(), BoxError> {
        match self.reserve.fill() {
            Ok(true) => return self.check_room(HYSTERESIS),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(directory = %self.directory.path().display(), %error, "no room can be held back for a full disk");
                return Ok(());
            }
        }
        self.revive();
        let (wanted, room) = (self.reserve.bytes(), self.reserve.room().unwrap_or(0));
        Err(format!("{wanted} bytes are to be held back, and {room} are free").into())
    }

    /// Whether there is room for more than what makes room. Where tables could not be rewritten any more, nothing that
    /// is deleted would be given back.
    pub(crate) fn check_room(&self, more: u64) -> Result<(), BoxError> {
        let tables = self.living + self.dead + self.not_in_tables();
        let room = self.reserve.room().filter(|_| self.reserve.bytes() > 0);
        match room.filter(|room| *room < tables + more) {
            Some(room) => {
                Err(format!("{room} bytes are free, and rewriting the tables may take {tables}").into())
            }
            None => Ok(()),
        }
    }

    /// Opens the base again if it failed beside the writes: only that clears away what its attempts left.
    fn revive(&mut self) {
        if !self.base.is_failed() {
            return;
        }
        let (meta, cause) = (self.meta, "tables could not be written".into());
        if let Err(CommitError::InDoubt(error)) = self.settle(&meta, cause, true) {
            // The next write says so, too.
            tracing::error!(directory = %self.directory.path().display(), %error, "what is on disk is in doubt");
        }
    }

    /// Gives that room up; whether there was any.
    pub(crate) fn release_reserve(&self) -> bool {
        self.reserve.is_held() && self.reserve.release().is_ok()
    }

    /// Makes `changes` durable, all or none of them; without `sync` together with the next ones that are.
    pub(crate) fn commit(&mut self, changes: &[Change], sync: bool) -> Result<(), CommitError> {
        let mut draft = Draft::new(self.meta);
        for change in changes {
            draft.take(change);
        }
        self.write(draft, sync)
    }

    /// Whether an interrupted compaction left something to erase.
    pub(crate) fn has_leftovers(&self) -> bool {
        !self.leftovers.is_empty()
    }

    /// Erases some of that.
    pub(crate) fn erase_leftovers(&mut self, budget: usize) -> Result<(), CommitError> {
        let mut draft = Draft::new(self.meta);
        let keep = self.leftovers.len().saturating_sub(budget);
        for leftover in self.leftovers.drain(keep..).rev() {
            draft.remove(leftover.key, leftover.checksum, leftover.bytes);
        }
        self.write(draft, false)
    }

    /// Has the space of dead entries given back, once there is enough of it. On a full disk little is enough, and the
    /// reserve is given up for it.
    pub(crate) fn reclaim(&mut self, full: bool) {
        if self.base.reclaim_failed() {
            self.dead += std::mem::take(&mut self.reclaiming);
        }
        if self.dead < if full { RECLAIM_FULL_BYTES } else { RECLAIM_BYTES.max(self.living) } {
            return;
        }
        let lacks_room = |needed: u64| self.reserve.room().is_some_and(|room| room < needed);
        let needed = self.living + self.not_in_tables();
        if lacks_room(needed) && !(full && self.release_reserve() && !lacks_room(needed)) {
            return;
        }
        if self.base.reclaim(self.living) {
            tracing::debug!(dead = self.dead, living = self.living, "giving space back to the file system");
            self.reclaiming = std::mem::take(&mut self.dead);
        }
    }

    /// Bytes of entries that are in journals and in memory only, and take room once more as a table.
    fn not_in_tables(&self) -> u64 {
        (self.living + self.dead).saturating_sub(self.base.disk_bytes())
    }

    fn write(&mut self, mut draft: Draft, sync: bool) -> Result<(), CommitError> {
        draft.meta.sequence += 1;
        draft.batch.puts.push((META_KEY.to_vec(), draft.meta.encode()));
        match self.try_write(&draft, sync) {
            // A base that refuses because of what happened to it earlier is a new one once it is opened again.
            Err(CommitError::NotApplied { full: false, .. }) => self.try_write(&draft, sync)?,
            tried => tried?,
        }
        self.meta = draft.meta;
        self.living = (self.living + draft.born).saturating_sub(draft.died);
        self.dead += draft.died;
        if sync {
            self.acknowledge();
        }
        Ok(())
    }

    fn try_write(&mut self, draft: &Draft, sync: bool) -> Result<(), CommitError> {
        match self.base.write(&draft.batch, sync) {
            Ok(()) => Ok(()),
            Err(WriteError::NotSynced(cause)) => Err(CommitError::InDoubt(cause)),
            Err(WriteError::Refused(cause)) => {
                // Where tables could not be written, the base does not say why it takes no more.
                let full =
                    is_full(cause.as_ref()) || self.reserve.room().is_some_and(|room| room < LITTLE_ROOM);
                self.settle(&draft.meta, cause, full)
            }
        }
    }

    /// Finds out whether a batch that was refused is there all the same.
    fn settle(&mut self, wanted: &Meta, cause: BoxError, full: bool) -> Result<(), CommitError> {
        tracing::warn!(directory = %self.directory.path().display(), error = %cause, "a write was refused; opening the data again");
        let found = self.base.reopen(self.acknowledged()).and_then(|()| self.base.get(META_KEY));
        let found = match found {
            Ok(Some(value)) => Meta::decode(&value).ok(),
            Ok(None) => None,
            Err(error) => {
                tracing::error!(directory = %self.directory.path().display(), %error, "the data cannot be opened again");
                None
            }
        };
        match found {
            Some(found) if found == *wanted => Ok(()),
            Some(found) if found == self.meta => Err(CommitError::NotApplied { cause, full }),
            _ => Err(CommitError::InDoubt(cause)),
        }
    }

    fn acknowledged(&self) -> Acknowledged {
        Acknowledged { sequence: self.synced, head: self.meta.head }
    }

    /// Everything so far is synced.
    fn acknowledge(&mut self) {
        self.synced = self.meta.sequence;
        if let Err(error) = self.mark.write(self.acknowledged()) {
            // The data is safe; only the loss of its end would not be noticed.
            tracing::warn!(directory = %self.directory.path().display(), %error, "the file acknowledged cannot be written");
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        if self.mark.sync().is_ok() {
            self.directory.close();
        }
    }
}
