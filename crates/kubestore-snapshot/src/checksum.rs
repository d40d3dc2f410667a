//! The checksum that `etcdctl snapshot save` puts at the end of a file.

use sha2::{Digest, Sha256};

use crate::{SnapshotError, SnapshotErrorKind, source::Source};

/// Bytes of the checksum.
const LENGTH: usize = 32;
const CHECKSUM: u64 = LENGTH as u64;
/// A database is a whole number of these, so that what is more is the checksum.
const SECTOR: u64 = 512;
/// Bytes read at a time.
const STEP: usize = 1 << 20;

/// How long the database in the file is, and whether a checksum follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) database: u64,
    pub(crate) checksum: bool,
}

impl Extent {
    /// None if the file is neither a database nor one with a checksum.
    pub(crate) fn of(size: u64) -> Option<Self> {
        match size % SECTOR {
            0 => Some(Self { database: size, checksum: false }),
            CHECKSUM => Some(Self { database: size - CHECKSUM, checksum: true }),
            _ => None,
        }
    }
}

/// Compares the checksum at the end with what comes before it.
pub(crate) fn verify(source: &Source, database: u64) -> Result<(), SnapshotError> {
    let mut hasher = Sha256::new();
    let mut at = 0;
    while at < database {
        let len = usize::try_from(database - at).map_or(STEP, |left| left.min(STEP));
        hasher.update(source.read(at, len)?);
        at += len as u64;
    }
    let written = source.read(database, LENGTH)?;
    if hasher.finalize()[..] == written[..] {
        return Ok(());
    }
    let message = "the checksum at the end is not that of the file: it is damaged or was cut; take another copy, or \
                   ignore the checksum to read what can be read";
    Err(SnapshotError::new(SnapshotErrorKind::ChecksumMismatch, message))
}
