//! What etcd keeps in its buckets: revisions, key-value pairs, leases.

use bytes::Bytes;
use kubestore_kv::{KeyValue, LeaseId, Revision};

use crate::wire::{Fields, NotAMessage, Value};

/// The key of a record: which write of which transaction, and whether it deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RevisionKey {
    pub(crate) main: i64,
    pub(crate) sub: u32,
    pub(crate) tombstone: bool,
}

impl RevisionKey {
    /// Eight bytes, `_`, eight bytes, and `t` for a deletion.
    pub(crate) fn parse(key: &[u8]) -> Option<Self> {
        let (revision, mark) = key.split_at_checked(17)?;
        let tombstone = match mark {
            [] => false,
            b"t" => true,
            _ => return None,
        };
        let main = big_endian(&revision[..8])?;
        let sub = u32::try_from(big_endian(&revision[9..])?).ok()?;
        (revision[8] == b'_' && main > 0).then_some(Self { main, sub, tombstone })
    }
}

/// Eight bytes as etcd writes an int64.
pub(crate) fn big_endian(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_be_bytes(bytes.try_into().ok()?))
}

/// The value of a record. Of a deletion there is the key only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) create_revision: i64,
    pub(crate) mod_revision: i64,
    pub(crate) version: i64,
    pub(crate) value: &'a [u8],
    pub(crate) lease: i64,
}

impl<'a> Record<'a> {
    pub(crate) fn parse(message: &'a [u8]) -> Result<Self, NotAMessage> {
        let mut record = Self::default();
        for field in Fields::new(message) {
            match field? {
                (1, Value::Bytes(key)) => record.key = key,
                (2, Value::Number(number)) => record.create_revision = number.cast_signed(),
                (3, Value::Number(number)) => record.mod_revision = number.cast_signed(),
                (4, Value::Number(number)) => record.version = number.cast_signed(),
                (5, Value::Bytes(value)) => record.value = value,
                (6, Value::Number(number)) => record.lease = number.cast_signed(),
                (1..=6, _) => return Err(NotAMessage),
                _ => {}
            }
        }
        Ok(record)
    }

    /// Whether it is what etcd writes under `revision`.
    pub(crate) fn belongs_to(&self, revision: RevisionKey) -> bool {
        if revision.tombstone {
            return !self.key.is_empty();
        }
        !self.key.is_empty()
            && self.mod_revision == revision.main
            && (1..=self.mod_revision).contains(&self.create_revision)
            && self.version > 0
    }

    /// The pair, under a key that is shared with others; `message` is what was parsed.
    pub(crate) fn key_value(&self, key: Bytes, message: &Bytes) -> KeyValue {
        let mut kv = KeyValue::new(key, message.slice_ref(self.value), Revision(self.mod_revision));
        kv.create_revision = Revision(self.create_revision);
        kv.version = self.version;
        kv.lease = (self.lease != 0).then_some(LeaseId(self.lease));
        kv
    }
}

/// A lease as etcd keeps it, times in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeaseRecord {
    pub(crate) id: i64,
    pub(crate) ttl: u64,
    /// 0 unless it was written down on the way.
    pub(crate) remaining: u64,
}

impl LeaseRecord {
    pub(crate) fn parse(message: &[u8]) -> Result<Self, NotAMessage> {
        let mut lease = Self::default();
        for field in Fields::new(message) {
            match field? {
                (1, Value::Number(number)) => lease.id = number.cast_signed(),
                (2, Value::Number(number)) => lease.ttl = seconds(number)?,
                (3, Value::Number(number)) => lease.remaining = seconds(number)?,
                (1..=3, _) => return Err(NotAMessage),
                _ => {}
            }
        }
        Ok(lease)
    }
}

fn seconds(number: u64) -> Result<u64, NotAMessage> {
    if number.cast_signed() < 0 { Err(NotAMessage) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_told_from_anything_else() {
        let key = |main: i64, separator: u8, sub: i64, mark: &[u8]| {
            [&main.to_be_bytes()[..], &[separator], &sub.to_be_bytes(), mark].concat()
        };
        let parsed = |key: &[u8]| RevisionKey::parse(key).map(|key| (key.main, key.sub, key.tombstone));
        assert_eq!(parsed(&key(7, b'_', 2, b"")), Some((7, 2, false)));
        assert_eq!(parsed(&key(7, b'_', 0, b"t")), Some((7, 0, true)));
        for bad in [
            key(7, b'-', 0, b""),
            key(7, b'_', 0, b"x"),
            key(7, b'_', 0, b"tt"),
            key(0, b'_', 0, b""),
            key(-7, b'_', 0, b""),
            key(7, b'_', -1, b""),
            vec![b'_'; 16],
        ] {
            assert_eq!(parsed(&bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_record_must_be_that_of_its_revision() {
        let record = Record::parse(b"\x0a\x02/a\x10\x05\x18\x07\x20\x02\x2a\x03one\x30\x09").unwrap();
        let wanted =
            Record { key: b"/a", create_revision: 5, mod_revision: 7, version: 2, value: b"one", lease: 9 };
        assert_eq!(record, wanted);
        let at = |main, tombstone| RevisionKey { main, sub: 0, tombstone };
        assert!(record.belongs_to(at(7, false)));
        assert!(!record.belongs_to(at(8, false)));
        assert!(!Record { create_revision: 8, ..record }.belongs_to(at(7, false)));
        assert!(!Record { version: 0, ..record }.belongs_to(at(7, false)));
        assert!(!Record { key: b"", ..record }.belongs_to(at(7, false)));
        assert!(Record::parse(b"\x0a\x02/a").unwrap().belongs_to(at(9, true)));
        assert_eq!(Record::parse(b"\x08\x01"), Err(NotAMessage));
    }

    #[test]
    fn leases_have_no_negative_times() {
        let lease = LeaseRecord::parse(b"\x08\x07\x10\x3c\x18\x05").unwrap();
        assert_eq!(lease, LeaseRecord { id: 7, ttl: 60, remaining: 5 });
        let negative = [&b"\x08\x07\x10"[..], &[0xff; 9], &[1]].concat();
        assert_eq!(LeaseRecord::parse(&negative), Err(NotAMessage));
    }
}
