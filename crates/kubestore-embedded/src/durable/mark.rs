//! The number of the last batch that was synced, kept apart from the data.
//!
//! The journal underneath cannot tell its damaged end from a batch that a crash cut short, and drops either. What it
//! dropped shows against this mark. The mark is written after the sync and is not synced itself: it may lag behind the
//! data after a power cut, but it is never ahead of it, and after the end of the process alone it is exact.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use xxhash_rust::xxh3::xxh3_64;

use super::directory::private;

const LEN: usize = 24;

/// What is known to be durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    pub(crate) sequence: u64,
    pub(crate) head: i64,
}

/// The open file of the mark.
#[derive(Debug)]
pub(crate) struct Mark {
    file: File,
}

impl Mark {
    /// Opens the file, or makes it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut options = private();
        Ok(Self { file: options.read(true).truncate(false).open(path)? })
    }

    /// What the file says, without making or changing it.
    pub(crate) fn look(path: &Path) -> io::Result<Option<Acknowledged>> {
        Self { file: File::open(path)? }.read()
    }

    /// What it says: `None` for an empty file, an [`InvalidData`](io::ErrorKind::InvalidData) error for a damaged one.
    pub(crate) fn read(&mut self) -> io::Result<Option<Acknowledged>> {
        let mut bytes = Vec::with_capacity(LEN);
        self.file.seek(SeekFrom::Start(0))?;
        Read::by_ref(&mut self.file).take(LEN as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        parse(&bytes).map(Some).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    pub(crate) fn write(&mut self, acknowledged: Acknowledged) -> io::Result<()> {
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&acknowledged.sequence.to_be_bytes());
        bytes[8..16].copy_from_slice(&acknowledged.head.to_be_bytes());
        let checksum = xxh3_64(&bytes[..16]);
        bytes[16..].copy_from_slice(&checksum.to_be_bytes());
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&bytes)
    }

    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }
}

fn parse(bytes: &[u8]) -> Option<Acknowledged> {
    let bytes: &[u8; LEN] = bytes.try_into().ok()?;
    let (body, checksum) = bytes.split_last_chunk::<8>()?;
    if xxh3_64(body) != u64::from_be_bytes(*checksum) {
        return None;
    }
    let (sequence, head) = body.split_first_chunk::<8>()?;
    Some(Acknowledged {
        sequence: u64::from_be_bytes(*sequence),
        head: i64::from_be_bytes(head.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written_and_damage_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("acknowledged");
        let mut mark = Mark::open(&path).unwrap();
        assert_eq!(mark.read().unwrap(), None);
        for sequence in [7, 8] {
            let written = Acknowledged { sequence, head: 3 };
            mark.write(written).unwrap();
            assert_eq!(mark.read().unwrap(), Some(written));
        }
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[3] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Mark::open(&path).unwrap().read().unwrap_err().kind(), io::ErrorKind::InvalidData);
        std::fs::write(&path, &bytes[..5]).unwrap();
        assert_eq!(Mark::open(&path).unwrap().read().unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
