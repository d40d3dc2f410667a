//! Room on the disk that is held back from writes that grow, for those which make room when the disk is full.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::directory::{is_full, private};

/// Room that must be left besides the reserve when it is made, so that the next write does not use it up again.
const SLACK: u64 = 4 << 20;

/// A file that takes room and holds nothing.
#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    bytes: u64,
}

impl Reserve {
    pub(crate) fn new(path: PathBuf, bytes: u64) -> Self {
        Self { path, bytes }
    }

    /// Takes the room, unless it is taken already. `false` if there is not enough of it.
    pub(crate) fn fill(&self) -> io::Result<bool> {
        let held = match fs::metadata(&self.path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        if held == self.bytes {
            return Ok(true);
        }
        self.release()?;
        if self.room().is_some_and(|room| room < self.bytes.saturating_add(SLACK)) {
            return Ok(false);
        }
        if self.bytes == 0 {
            return Ok(true);
        }
        // Its length is the sign that it is whole: it gets its name when it is.
        let new = self.path.with_extension("new");
        let made = private().truncate(true).open(&new).and_then(|file| allocate(&file, self.bytes));
        match made.and_then(|()| fs::rename(&new, &self.path)) {
            Ok(()) => Ok(true),
            Err(error) => {
                remove(&new)?;
                if is_full(&error) { Ok(false) } else { Err(error) }
            }
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        self.path.exists()
    }

    /// Gives the room back to the file system.
    pub(crate) fn release(&self) -> io::Result<()> {
        remove(&self.path)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that this user may still write to the file system, where it tells.
    pub(crate) fn room(&self) -> Option<u64> {
        self.path.parent().and_then(room)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        allocated => return allocated.map_err(io::Error::from),
    }
    write_zeros(file, bytes)
}

/// For file systems that cannot set room aside by themselves.
fn write_zeros(mut file: &File, bytes: u64) -> io::Result<()> {
    let zeros = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let part = zeros.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        file.write_all(&zeros[..part])?;
        left -= part as u64;
    }
    file.sync_all()
}

#[cfg(unix)]
pub(crate) fn room(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(not(unix))]
pub(crate) fn room(_path: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_takes_room_and_gives_it_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("reserve");
        let reserve = Reserve::new(path.clone(), 3 << 20);
        assert!(reserve.fill().unwrap());
        let taken =
            |path: &PathBuf| std::os::unix::fs::MetadataExt::blocks(&fs::metadata(path).unwrap()) * 512;
        assert!(taken(&path) >= 3 << 20, "it is not a hole");
        assert!(reserve.fill().unwrap());
        assert!(Reserve::new(path.clone(), 1 << 20).fill().unwrap());
        assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 20, "another size makes another reserve");
        reserve.release().unwrap();
        reserve.release().unwrap();
        assert!(!path.exists());
        assert!(Reserve::new(path.clone(), 0).fill().unwrap());
        assert!(!path.exists(), "none is wanted");
        assert!(!Reserve::new(path.clone(), u64::MAX).fill().unwrap(), "no disk has that much");
        assert!(!path.exists());
        let zeros = File::create(&path).unwrap();
        write_zeros(&zeros, (1 << 20) + 5).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), (1 << 20) + 5);
    }
}
