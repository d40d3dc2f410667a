//! The bytes on disk. All numbers are big-endian.
//!
//! | key | value |
//! | --- | --- |
//! | `m` | format (4), sequence, head, compacted revision, last lease, number of entries, their digest (8 each), checksum (8) |
//! | `l`, lease (8) | checksum (8), TTL in seconds (8), deadline in milliseconds since the epoch (8) |
//! | `r`, revision (8), number within it (4) | checksum (8), create revision, version, lease (8 each), length of the key (4), key, value |
//! | `t` | nothing: written for its effect on the database underneath |
//!
//! Version 0 is a deletion. A checksum is the XXH3 of the value after it, seeded with the XXH3 of the entry's key. The
//! digest is the sum of the checksums of all entries but `m`: an entry that is missing, doubled or another one shows.

use bytes::Bytes;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::{lease::Lease, record::Record};

/// The number of this format; a directory of a higher one is refused.
pub(crate) const FORMAT: u32 = 1;
/// The key of [`Meta`].
pub(crate) const META_KEY: &[u8] = b"m";
/// The key of an entry that says nothing.
pub(crate) const TICK_KEY: &[u8] = b"t";

const META_LEN: usize = 60;
const RECORD_HEADER: usize = 36;

/// What is said once about all entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    /// One more for each batch.
    pub(crate) sequence: u64,
    pub(crate) head: i64,
    pub(crate) compacted: i64,
    pub(crate) last_lease: i64,
    /// Entries besides this one.
    pub(crate) entries: u64,
    pub(crate) digest: u64,
}

/// One entry as it is written.
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
    pub(crate) checksum: u64,
}

/// One entry as it was read.
#[derive(Debug)]
pub(crate) enum Read {
    Meta(Meta),
    Lease(i64, Lease),
    Record(Record),
    Tick,
}

/// An entry that does not say what an entry says; the text names what is wrong with it.
#[derive(Debug)]
pub(crate) struct Damaged(pub(crate) String);

impl Meta {
    pub(crate) const EMPTY: Self =
        Self { sequence: 0, head: 1, compacted: 0, last_lease: 0, entries: 0, digest: 0 };

    pub(crate) fn add(&mut self, checksum: u64) {
        self.entries += 1;
        self.digest = self.digest.wrapping_add(checksum);
    }

    pub(crate) fn subtract(&mut self, checksum: u64) {
        self.entries = self.entries.wrapping_sub(1);
        self.digest = self.digest.wrapping_sub(checksum);
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(META_LEN);
        value.extend_from_slice(&FORMAT.to_be_bytes());
        value.extend_from_slice(&self.sequence.to_be_bytes());
        for number in [self.head, self.compacted, self.last_lease] {
            value.extend_from_slice(&number.to_be_bytes());
        }
        value.extend_from_slice(&self.entries.to_be_bytes());
        value.extend_from_slice(&self.digest.to_be_bytes());
        let checksum = checksum(META_KEY, &value);
        value.extend_from_slice(&checksum.to_be_bytes());
        value
    }

    pub(crate) fn decode(value: &[u8]) -> Result<Self, Damaged> {
        let damaged = || Damaged("the summary of the data is damaged".to_owned());
        let (body, sum) = value.split_last_chunk::<8>().ok_or_else(damaged)?;
        if value.len() != META_LEN || checksum(META_KEY, body) != u64::from_be_bytes(*sum) {
            return Err(damaged());
        }
        let mut fields = Fields(body);
        let format = u32::from_be_bytes(fields.take().ok_or_else(damaged)?);
        if format != FORMAT {
            return Err(Damaged(format!("the summary of the data is of format {format}, not {FORMAT}")));
        }
        let mut next = || fields.take::<8>().ok_or_else(damaged);
        Ok(Self {
            sequence: u64::from_be_bytes(next()?),
            head: i64::from_be_bytes(next()?),
            compacted: i64::from_be_bytes(next()?),
            last_lease: i64::from_be_bytes(next()?),
            entries: u64::from_be_bytes(next()?),
            digest: u64::from_be_bytes(next()?),
        })
    }
}

/// The entry of one version.
pub(crate) fn record_entry(record: &Record) -> Entry {
    let key = record_key(record.modified, record.number);
    let mut value = Vec::with_capacity(RECORD_HEADER + record.key.len() + record.value.len());
    value.extend_from_slice(&[0; 8]);
    for number in [record.created, record.version, record.lease] {
        value.extend_from_slice(&number.to_be_bytes());
    }
    // A request is far below 4 GiB, and so is a key.
    let length = u32::try_from(record.key.len()).unwrap_or(u32::MAX);
    value.extend_from_slice(&length.to_be_bytes());
    value.extend_from_slice(&record.key);
    value.extend_from_slice(&record.value);
    seal(key, value)
}

/// The entry of a lease.
pub(crate) fn lease_entry(id: i64, lease: Lease) -> Entry {
    let key = lease_key(id);
    let mut value = vec![0; 8];
    value.extend_from_slice(&lease.ttl.to_be_bytes());
    value.extend_from_slice(&lease.deadline.to_be_bytes());
    seal(key, value)
}

/// The key of a version.
pub(crate) fn record_key(revision: i64, number: u32) -> Vec<u8> {
    let mut key = Vec::with_capacity(13);
    key.push(b'r');
    key.extend_from_slice(&revision.to_be_bytes());
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// The key of a lease.
pub(crate) fn lease_key(id: i64) -> Vec<u8> {
    let mut key = Vec::with_capacity(9);
    key.push(b'l');
    key.extend_from_slice(&id.to_be_bytes());
    key
}

/// Reads any entry, with its checksum.
pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<(Read, u64), Damaged> {
    if key == META_KEY {
        return Ok((Read::Meta(Meta::decode(value)?), 0));
    }
    if key == TICK_KEY && value.is_empty() {
        return Ok((Read::Tick, 0));
    }
    let (sum, body) = value.split_first_chunk::<8>().ok_or_else(|| unknown(key))?;
    let sum = u64::from_be_bytes(*sum);
    if checksum(key, body) != sum {
        return Err(Damaged(format!("{} fails its checksum", name(key))));
    }
    let read = match key.split_first() {
        Some((b'l', id)) => decode_lease(id, body),
        Some((b'r', place)) => decode_record(place, body),
        _ => None,
    };
    Ok((read.ok_or_else(|| unknown(key))?, sum))
}

fn decode_lease(id: &[u8], body: &[u8]) -> Option<Read> {
    let id = i64::from_be_bytes(id.try_into().ok()?);
    let mut fields = Fields(body);
    let ttl = u64::from_be_bytes(fields.take()?);
    let deadline = i64::from_be_bytes(fields.take()?);
    (id > 0 && fields.0.is_empty()).then_some(Read::Lease(id, Lease { ttl, deadline }))
}

fn decode_record(place: &[u8], body: &[u8]) -> Option<Read> {
    let mut place = Fields(place);
    let modified = i64::from_be_bytes(place.take()?);
    let number = u32::from_be_bytes(place.take()?);
    let mut fields = Fields(body);
    let created = i64::from_be_bytes(fields.take()?);
    let version = i64::from_be_bytes(fields.take()?);
    let lease = i64::from_be_bytes(fields.take()?);
    let length = usize::try_from(u32::from_be_bytes(fields.take()?)).ok()?;
    let (key, value) = fields.0.split_at_checked(length)?;
    let (key, value) = (Bytes::copy_from_slice(key), Bytes::copy_from_slice(value));
    let sane = place.0.is_empty() && modified > 1 && version >= 0 && !key.is_empty();
    sane.then_some(Read::Record(Record { key, value, created, modified, number, version, lease }))
}

fn seal(key: Vec<u8>, mut value: Vec<u8>) -> Entry {
    let checksum = checksum(&key, &value[8..]);
    value[..8].copy_from_slice(&checksum.to_be_bytes());
    Entry { key, value, checksum }
}

fn checksum(key: &[u8], body: &[u8]) -> u64 {
    xxh3_64_with_seed(body, xxh3_64(key))
}

fn unknown(key: &[u8]) -> Damaged {
    Damaged(format!("{} is not what this format has", name(key)))
}

/// What an entry is, for an error.
fn name(key: &[u8]) -> String {
    match key.split_first() {
        Some((b'l', id)) => match id.try_into() {
            Ok(id) => format!("lease {}", i64::from_be_bytes(id)),
            Err(_) => "a lease".to_owned(),
        },
        Some((b'r', place)) => match place.first_chunk() {
            Some(revision) => format!("revision {}", i64::from_be_bytes(*revision)),
            None => "a revision".to_owned(),
        },
        _ => "an entry".to_owned(),
    }
}

/// What is left to be read of a value.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            key: Bytes::from_static(b"/pods/a"),
            value: Bytes::from_static(b"value"),
            created: 3,
            modified: 9,
            number: 2,
            version: 4,
            lease: 7,
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let entry = record_entry(&record());
        assert_eq!(entry.key, b"r\0\0\0\0\0\0\0\x09\0\0\0\x02");
        let (read, checksum) = decode(&entry.key, &entry.value).unwrap();
        assert_eq!(checksum, entry.checksum);
        let Read::Record(read) = read else { panic!("expected a record, got {read:?}") };
        let fields = |record: Record| (record.key_value(), record.number);
        assert_eq!(fields(read), fields(record()));
    }

    #[test]
    fn a_lease_and_the_summary_are_read_as_they_were_written() {
        let lease = Lease { ttl: 30, deadline: -5 };
        let entry = lease_entry(12, lease);
        let (read, _) = decode(&entry.key, &entry.value).unwrap();
        assert!(matches!(read, Read::Lease(12, read) if read == lease), "{read:?}");
        let meta = Meta { sequence: 1, head: 2, compacted: 3, last_lease: 4, entries: 5, digest: 6 };
        assert_eq!(Meta::decode(&meta.encode()).unwrap(), meta);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for entry in [record_entry(&record()), lease_entry(12, Lease { ttl: 30, deadline: 5 })] {
            for bit in 0..entry.value.len() * 8 {
                let mut value = entry.value.clone();
                value[bit / 8] ^= 1 << (bit % 8);
                assert!(decode(&entry.key, &value).is_err(), "bit {bit} of the value");
            }
            for bit in 0..entry.key.len() * 8 {
                let mut key = entry.key.clone();
                key[bit / 8] ^= 1 << (bit % 8);
                assert!(decode(&key, &entry.value).is_err(), "bit {bit} of the key");
            }
        }
        let meta = Meta::EMPTY.encode();
        for bit in 0..meta.len() * 8 {
            let mut value = meta.clone();
            value[bit / 8] ^= 1 << (bit % 8);
            assert!(Meta::decode(&value).is_err(), "bit {bit} of the summary");
        }
    }

    #[test]
    fn what_is_cut_short_is_noticed() {
        let entry = record_entry(&record());
        for length in 0..entry.value.len() {
            assert!(decode(&entry.key, &entry.value[..length]).is_err());
        }
        assert!(decode(b"x", &entry.value).is_err());
        assert!(decode(b"", b"").is_err());
    }
}
