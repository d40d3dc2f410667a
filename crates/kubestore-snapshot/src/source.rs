//! Where the bytes are: in a file, or in memory.

use std::{fs::File, io, os::unix::fs::FileExt};

use bytes::Bytes;

use crate::SnapshotError;

/// Bytes that can be read at any place, by several threads at once.
#[derive(Debug)]
pub(crate) enum Source {
    File { file: File, size: u64 },
    Memory(Bytes),
}

impl Source {
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::File { size, .. } => *size,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Exactly `len` bytes from `at` on. What comes from memory is not copied.
    pub(crate) fn read(&self, at: u64, len: usize) -> Result<Bytes, SnapshotError> {
        let read = match self {
            Self::File { file, size } => {
                // Nothing is taken from the heap for what is not there.
                if at.checked_add(len as u64).is_none_or(|end| end > *size) {
                    return Err(beyond_the_end(at));
                }
                let mut buffer = vec![0; len];
                file.read_exact_at(&mut buffer, at).map(|()| Bytes::from(buffer))
            }
            Self::Memory(bytes) => {
                let range = usize::try_from(at).ok().and_then(|at| Some(at..at.checked_add(len)?));
                let range = range.filter(|range| range.end <= bytes.len());
                return range.map(|range| bytes.slice(range)).ok_or_else(|| beyond_the_end(at));
            }
        };
        read.map_err(|cause| SnapshotError::unreadable(at, cause))
    }
}

fn beyond_the_end(at: u64) -> SnapshotError {
    SnapshotError::unreadable(at, io::ErrorKind::UnexpectedEof.into())
}
