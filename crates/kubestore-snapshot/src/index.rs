//! Which key has which versions, and where in the file they are.

use std::collections::HashMap;

use bytes::Bytes;
use kubestore_kv::KeyValue;

use crate::{
    SnapshotError, SnapshotErrorKind,
    record::{Record, RevisionKey},
    source::Source,
};

/// All keys with all their versions. Values stay in the file.
///
/// It takes the bytes of each key, 16 bytes a key and 24 a version; a little more than twice that while it is made.
#[derive(Debug)]
pub(crate) struct Index {
    /// The bytes of all keys, one after the other.
    names: Bytes,
    /// In ascending order of the names.
    keys: Vec<Key>,
    /// Those of each key together, in ascending order of revisions.
    versions: Vec<Version>,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    name: usize,
    length: u32,
    /// The first of its versions; they end where those of the next key begin.
    versions: u32,
}

/// One version of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub(crate) main: i64,
    at: u64,
    /// The highest bit marks a deletion.
    length: u32,
    pub(crate) sub: u32,
}

const TOMBSTONE: u32 = 1 << 31;

impl Version {
    pub(crate) fn is_tombstone(self) -> bool {
        self.length & TOMBSTONE != 0
    }

    fn length(self) -> usize {
        (self.length & !TOMBSTONE) as usize
    }
}

impl Index {
    /// How many keys ever had a version that is kept.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn version_count(&self) -> usize {
        self.versions.len()
    }

    pub(crate) fn name(&self, key: usize) -> Bytes {
        let Key { name, length, .. } = self.keys[key];
        self.names.slice(name..name + length as usize)
    }

    fn name_bytes(&self, key: &Key) -> &[u8] {
        &self.names[key.name..key.name + key.length as usize]
    }

    /// The first key that is not below `name`.
    pub(crate) fn lower_bound(&self, name: &[u8]) -> usize {
        self.keys.partition_point(|key| self.name_bytes(key) < name)
    }

    /// A key by its name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        let at = self.lower_bound(name);
        self.keys.get(at).is_some_and(|key| self.name_bytes(key) == name).then_some(at)
    }

    /// Where the versions of a key are among all.
    pub(crate) fn versions_of(&self, key: usize) -> std::ops::Range<usize> {
        let end = self.keys.get(key + 1).map_or(self.versions.len(), |next| next.versions as usize);
        self.keys[key].versions as usize..end
    }

    pub(crate) fn version(&self, version: usize) -> Version {
        self.versions[version]
    }

    /// The version of a key as of a revision, unless it was deleted or did not exist.
    pub(crate) fn version_at(&self, key: usize, revision: i64) -> Option<usize> {
        let range = self.versions_of(key);
        let (start, versions) = (range.start, &self.versions[range]);
        let last = versions.partition_point(|version| version.main <= revision).checked_sub(1)?;
        (!versions[last].is_tombstone()).then_some(start + last)
    }

    /// Reads a version that is no deletion. It must be what it was when the index was made.
    pub(crate) fn read(
        &self,
        source: &Source,
        key: usize,
        version: usize,
    ) -> Result<KeyValue, SnapshotError> {
        let name = self.name(key);
        let Version { main, sub, at, .. } = self.versions[version];
        let message = source.read(at, self.versions[version].length())?;
        let revision = RevisionKey { main, sub, tombstone: false };
        let record =
            Record::parse(&message).ok().filter(|record| record.key == name && record.belongs_to(revision));
        let changed = || {
            let what = format!("the record of revision {main} was overwritten");
            SnapshotError::new(SnapshotErrorKind::Damaged, what).at(None, at)
        };
        Ok(record.ok_or_else(changed)?.key_value(name, &message))
    }
}

/// Makes an index of records that come in the order of their revisions.
#[derive(Debug, Default)]
pub(crate) struct IndexBuilder {
    numbers: HashMap<Box<[u8]>, u32>,
    versions: Vec<(u32, Version)>,
}

impl IndexBuilder {
    /// Takes a record: `message` at `at` in the file.
    pub(crate) fn add(
        &mut self,
        name: &[u8],
        revision: RevisionKey,
        at: u64,
        message: &[u8],
    ) -> Result<(), SnapshotError> {
        let too_many = |_| {
            let message = "the file has more keys, or a longer record, than this reader takes";
            SnapshotError::new(SnapshotErrorKind::TooLarge, message).at(None, at)
        };
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.numbers.len()).map_err(too_many)?;
                self.numbers.insert(name.into(), number);
                number
            }
        };
        u32::try_from(self.versions.len()).map_err(too_many)?;
        // A page is much smaller than the mark.
        let length = i32::try_from(message.len()).map_err(too_many)?.unsigned_abs();
        let length = length | if revision.tombstone { TOMBSTONE } else { 0 };
        self.versions.push((number, Version { main: revision.main, at, length, sub: revision.sub }));
        Ok(())
    }

    pub(crate) fn build(self) -> Index {
        let Self { numbers, mut versions } = self;
        let mut sorted: Vec<_> = numbers.into_iter().collect();
        sorted.sort_unstable();
        let mut names = Vec::with_capacity(sorted.iter().map(|(name, _)| name.len()).sum());
        let mut keys = Vec::with_capacity(sorted.len());
        let mut ranks = vec![0_usize; sorted.len()];
        for (rank, (name, number)) in (0..).zip(sorted) {
            ranks[number as usize] = rank;
            let length = u32::try_from(name.len()).unwrap_or(u32::MAX);
            keys.push(Key { name: names.len(), length, versions: 0 });
            names.extend_from_slice(&name);
        }
        // A stable sort keeps the versions of a key in their order.
        versions.sort_by_key(|(number, _)| ranks[*number as usize]);
        let mut next = 0;
        for (at, (number, _)) in (0..).zip(&versions) {
            let rank = ranks[*number as usize];
            if rank == next {
                keys[rank].versions = at;
                next += 1;
            }
        }
        let versions = versions.into_iter().map(|(_, version)| version).collect();
        Index { names: names.into(), keys, versions }
    }
}
