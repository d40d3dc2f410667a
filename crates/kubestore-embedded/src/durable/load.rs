//! Rebuilds the state from the entries of a directory, and proves that none is missing.

use std::{path::Path, sync::Arc};

use kubestore_kv::{BoxError, KvError, KvErrorKind};

use super::{
    base::Base,
    codec::{self, Meta, Read},
    directory::{base_error, directory_error},
};
use crate::{
    lease::Lease,
    record::{Commit, Event, Record},
    state::State,
};

/// An entry that an interrupted compaction left behind.
#[derive(Debug)]
pub(crate) struct Leftover {
    pub(crate) key: Vec<u8>,
    pub(crate) checksum: u64,
    pub(crate) bytes: u64,
}

/// What a directory held.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) state: State,
    pub(crate) meta: Meta,
    /// Bytes of all entries.
    pub(crate) bytes: u64,
    /// In the order in which they may go: what a tombstone hides comes before it.
    pub(crate) leftovers: Vec<Leftover>,
}

/// Reads everything. `path` is for the errors.
pub(crate) fn load(base: &dyn Base, path: &Path) -> Result<Loaded, KvError> {
    let mut loader = Loader::default();
    let scanned = base.scan(&mut |key, value| loader.visit(key, value));
    let result = match scanned {
        Err(error) if loader.damage.is_none() => return Err(base_error(path, error)),
        _ => loader.finish(),
    };
    result.map_err(|damage| {
        let message = format!("what is in data is damaged: {damage}; restore the directory from a backup");
        directory_error(KvErrorKind::Corrupt, path, &message)
    })
}

#[derive(Default)]
struct Loader {
    state: Option<State>,
    meta: Option<Meta>,
    leases: Vec<(i64, Lease)>,
    /// Entries and digest as found.
    found: Option<Meta>,
    bytes: u64,
    leftovers: Vec<Leftover>,
    /// The changes of one revision, until the next one begins.
    revision: Vec<Record>,
    damage: Option<String>,
}

impl Loader {
    fn visit(&mut self, key: &[u8], value: &[u8]) -> Result<(), BoxError> {
        let taken = codec::decode(key, value).map_err(|damaged| damaged.0).and_then(|(read, checksum)| {
            let bytes = (key.len() + value.len()) as u64;
            self.bytes += bytes;
            if matches!(read, Read::Lease(..) | Read::Record(_)) {
                self.found.get_or_insert(Meta::EMPTY).add(checksum);
            }
            match read {
                // Leases come first, then the summary, then the versions by revision.
                Read::Lease(id, lease) => self.leases.push((id, lease)),
                Read::Meta(meta) => self.begin(meta)?,
                Read::Tick => {}
                Read::Record(record) => {
                    self.record(record, Leftover { key: key.to_vec(), checksum, bytes })?
                }
            }
            Ok(())
        });
        taken.map_err(|damage| {
            self.damage = Some(damage);
            BoxError::from("stopped at damage")
        })
    }

    fn begin(&mut self, meta: Meta) -> Result<(), String> {
        if meta.compacted > meta.head || meta.head < 1 || meta.compacted < 0 {
            return Err("the summary contradicts itself".to_owned());
        }
        let mut state = State::new();
        state.compacted = meta.compacted;
        // The step that ends at the compacted revision is done again.
        state.cleaned = (meta.compacted - 1).max(0);
        for (id, lease) in self.leases.drain(..) {
            state.leases.insert(id, lease);
        }
        state.leases.last = state.leases.last.max(meta.last_lease);
        self.state = Some(state);
        self.meta = Some(meta);
        Ok(())
    }

    fn record(&mut self, mut record: Record, entry: Leftover) -> Result<(), String> {
        let state = self.state.as_mut().ok_or("the summary is missing")?;
        if let Some(known) = state.index.get(&record.key) {
            record.key = known.key.clone();
        }
        if record.modified < state.compacted {
            self.restore(record, entry);
            return Ok(());
        }
        if self.revision.first().is_some_and(|first| first.modified != record.modified) {
            self.end_revision()?;
        }
        if usize::try_from(record.number).ok() != Some(self.revision.len()) {
            return Err(format!("a part of revision {} is missing", record.modified));
        }
        self.revision.push(record);
        Ok(())
    }

    /// Takes a version below the compacted revision: still alive, or left over.
    fn restore(&mut self, record: Record, entry: Leftover) {
        let Some(state) = self.state.as_mut() else { return };
        let replaced = state.restore(record);
        self.leftovers.extend(replaced.hidden.iter().map(|old| leftover(old)));
        if replaced.is_tombstone {
            self.leftovers.push(entry);
        }
    }

    fn end_revision(&mut self) -> Result<(), String> {
        let (Some(state), Some(first)) = (self.state.as_mut(), self.revision.first()) else { return Ok(()) };
        let revision = first.modified;
        let begins = state.log.first().is_none();
        let expected = if begins { state.compacted.max(2) } else { state.head + 1 };
        // After a repair nothing is left of the compacted revision itself.
        if revision != expected && !(begins && revision == state.compacted + 1) {
            return Err(missing(expected, revision - 1));
        }
        let commit: Commit = self
            .revision
            .drain(..)
            .map(|record| Event { previous: state.newest(&record.key).cloned(), record: Arc::new(record) })
            .collect();
        state.append(&commit);
        Ok(())
    }

    fn finish(mut self) -> Result<Loaded, String> {
        if let Some(damage) = self.damage.take() {
            return Err(damage);
        }
        self.end_revision()?;
        let (Some(mut state), Some(meta)) = (self.state, self.meta) else {
            return Err("the summary is missing".to_owned());
        };
        if state.log.first().is_none() && meta.compacted == meta.head {
            state.head = meta.head;
        }
        if state.head < meta.head {
            return Err(missing(state.head + 1, meta.head));
        }
        if state.head > meta.head {
            return Err(format!("it has revision {}, but should end with {}", state.head, meta.head));
        }
        let found = self.found.unwrap_or(Meta::EMPTY);
        if (found.entries, found.digest) != (meta.entries, meta.digest) {
            return Err(format!(
                "it has {} entries that do not add up to the {} written",
                found.entries, meta.entries
            ));
        }
        Ok(Loaded { state, meta, bytes: self.bytes, leftovers: self.leftovers })
    }
}

fn missing(first: i64, last: i64) -> String {
    if first == last {
        format!("revision {first} is missing")
    } else {
        format!("revisions {first} to {last} are missing")
    }
}

fn leftover(record: &Record) -> Leftover {
    let entry = codec::record_entry(record);
    Leftover { bytes: (entry.key.len() + entry.value.len()) as u64, key: entry.key, checksum: entry.checksum }
}
