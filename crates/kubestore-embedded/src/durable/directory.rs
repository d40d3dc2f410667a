//! The directory: what is in it, whose it is, and who has it open.
//!
//! | entry | what it is |
//! | --- | --- |
//! | `FORMAT` | `kubestore-embedded 1` |
//! | `lock` | held while the directory is open; says by which process |
//! | `acknowledged` | the [mark](super::mark) |
//! | `reserve` | the [room](super::reserve) held back for a full disk |
//! | `data` | the database underneath |
//! | `data.new` | one that is being made; the directory is made once it is called `data` |

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use kubestore_kv::{BoxError, KvError, KvErrorKind};

use super::codec::FORMAT;

const FORMAT_FILE: &str = "FORMAT";
const FORMAT_NAME: &str = "kubestore-embedded";
const LOCK_FILE: &str = "lock";
const MARK_FILE: &str = "acknowledged";
const RESERVE_FILE: &str = "reserve";
const RESERVE_NEW: &str = "reserve.new";
const DATA: &str = "data";
const DATA_NEW: &str = "data.new";
/// What may be there before a directory is made: what an interrupted attempt leaves.
const UNFINISHED: [&str; 6] = [FORMAT_FILE, LOCK_FILE, MARK_FILE, RESERVE_FILE, RESERVE_NEW, DATA_NEW];

/// A directory that this process has to itself until this is dropped.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    /// Whether there was no data yet.
    fresh: bool,
    /// Whether the process that had it before closed it.
    closed: bool,
    lock: File,
}

impl Directory {
    /// Takes the directory, making it if need be. Changes nothing in one that is not ours, of a newer format, or open
    /// elsewhere.
    pub(crate) fn take(path: &Path) -> Result<Self, KvError> {
        make_private(path).map_err(|error| io_error(path, "cannot be made", error))?;
        let path = fs::canonicalize(path).map_err(|error| io_error(path, "cannot be opened", error))?;
        // Looked at twice: before the lock file is made, and once nobody else can change it.
        inspect(&path)?;
        let (lock, closed) = lock(&path)?;
        let fresh = inspect(&path)?;
        Ok(Self { path, fresh, closed: closed || fresh, lock })
    }

    /// The same for one that must be there and have data.
    pub(crate) fn take_existing(path: &Path) -> Result<Self, KvError> {
        Look::at(path)?;
        Self::take(path)
    }

    /// Leaves a note that all is in order. The lock itself goes with the file.
    pub(crate) fn close(&mut self) {
        if let Err(error) = self.lock.set_len(0) {
            tracing::debug!(directory = %self.path.display(), %error, "the lock file cannot be emptied");
        }
    }

    pub(crate) fn was_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.fresh
    }

    pub(crate) fn mark(&self) -> PathBuf {
        self.path.join(MARK_FILE)
    }

    pub(crate) fn reserve(&self) -> PathBuf {
        self.path.join(RESERVE_FILE)
    }

    /// Where the data is.
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join(DATA)
    }

    /// An empty place to make the data in.
    pub(crate) fn prepare(&self) -> Result<PathBuf, KvError> {
        let new = self.path.join(DATA_NEW);
        let prepared = match fs::remove_dir_all(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => make_private(&new),
        };
        prepared.map_err(|error| io_error(&self.path, "cannot be written", error))?;
        Ok(new)
    }

    /// Makes what was prepared the data, for good.
    pub(crate) fn adopt(&self) -> Result<(), KvError> {
        let adopt = || {
            let mut format = private().truncate(true).open(self.path.join(FORMAT_FILE))?;
            writeln!(format, "{FORMAT_NAME} {FORMAT}")?;
            format.sync_all()?;
            fs::rename(self.path.join(DATA_NEW), self.data())?;
            File::open(&self.path)?.sync_all()
        };
        adopt().map_err(|error: io::Error| io_error(&self.path, "cannot be written", error))
    }

    /// Puts what was prepared in the place of the data, and tells where the data is now.
    pub(crate) fn replace(&self) -> Result<PathBuf, KvError> {
        let mut names = (1..).map(|number: u32| self.path.join(format!("data.damaged-{number}")));
        let kept = names.find(|name| !name.exists()).unwrap_or_default();
        let renamed = fs::rename(self.data(), &kept);
        renamed.map_err(|error| io_error(&self.path, "cannot be written", error))?;
        self.adopt()?;
        Ok(kept)
    }

    /// Bytes that the directory takes on disk, without the reserve.
    pub(crate) fn size(path: &Path) -> io::Result<u64> {
        let mut size = 0;
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // A file may vanish between the listing and the look at it.
            let Ok(metadata) = entry.metadata() else { continue };
            if entry.file_name() == RESERVE_FILE {
                continue;
            }
            size += if metadata.is_dir() { Self::size(&entry.path())? } else { allocated(&metadata) };
        }
        Ok(size)
    }
}

/// A directory that is only looked at.
#[derive(Debug)]
pub(crate) struct Look {
    path: PathBuf,
    /// Held while nobody else may open it; a directory without a lock file is open nowhere.
    _lock: Option<File>,
}

impl Look {
    /// Keeps others from opening the directory at `path`. Changes nothing.
    pub(crate) fn at(path: &Path) -> Result<Self, KvError> {
        let path = fs::canonicalize(path).map_err(|error| io_error(path, "cannot be opened", error))?;
        if inspect(&path)? {
            let message = "there is no data in it; name a directory of this engine";
            return Err(directory_error(KvErrorKind::InvalidArgument, &path, message));
        }
        let mut lock = match File::open(path.join(LOCK_FILE)) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self { path, _lock: None }),
            Err(error) => return Err(io_error(&path, "cannot be locked", error)),
        };
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => Err(in_use(&path, &mut lock)),
            Err(TryLockError::Error(error)) => Err(io_error(&path, "cannot be locked", error)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether the directory is still to be made; an error if it is not ours to open.
fn inspect(path: &Path) -> Result<bool, KvError> {
    let mut names = Vec::new();
    let entries = fs::read_dir(path).map_err(|error| io_error(path, "cannot be read", error))?;
    for entry in entries {
        let entry = entry.map_err(|error| io_error(path, "cannot be read", error))?;
        names.push(entry.file_name());
    }
    let has = |name: &str| names.iter().any(|found| found == name);
    if has(FORMAT_FILE) {
        check_format(path)?;
    }
    if has(DATA) {
        if has(FORMAT_FILE) {
            return Ok(false);
        }
        let message = "FORMAT is missing beside data; restore the directory from a backup";
        return Err(directory_error(KvErrorKind::Corrupt, path, message));
    }
    if let Some(foreign) = names.iter().find(|name| !UNFINISHED.iter().any(|ours| *name == ours)) {
        let message = format!(
            "it is neither empty nor a kubestore directory (it has {}); name another one",
            Path::new(foreign).display()
        );
        return Err(directory_error(KvErrorKind::InvalidArgument, path, &message));
    }
    Ok(true)
}

fn check_format(path: &Path) -> Result<(), KvError> {
    let mut text = String::new();
    let read = File::open(path.join(FORMAT_FILE)).and_then(|file| file.take(256).read_to_string(&mut text));
    let damaged = || {
        let message = "FORMAT is damaged or not of kubestore; restore the directory from a backup";
        directory_error(KvErrorKind::Corrupt, path, message)
    };
    match read {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(damaged()),
        Err(error) => return Err(io_error(path, "has a FORMAT that cannot be read", error)),
        // Made in the moment before a crash, and not on disk yet.
        Ok(0) if !path.join(DATA).exists() => return Ok(()),
        Ok(_) => {}
    }
    let number = text.strip_suffix('\n').and_then(|line| line.strip_prefix(FORMAT_NAME)?.strip_prefix(' '));
    match number.and_then(|number| number.parse::<u32>().ok()) {
        Some(FORMAT) => Ok(()),
        Some(newer) if newer > FORMAT => {
            let message = format!(
                "its format is {newer}, this version reads up to {FORMAT}; open it with a newer version"
            );
            Err(directory_error(KvErrorKind::Unsupported, path, &message))
        }
        _ => Err(damaged()),
    }
}

/// The lock, and whether the one who had it before let go of it in order.
fn lock(path: &Path) -> Result<(File, bool), KvError> {
    let failed = |error| io_error(path, "cannot be locked", error);
    let mut file = private().read(true).truncate(false).open(path.join(LOCK_FILE)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(path, &mut file)),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    let closed = file.metadata().map_err(failed)?.len() == 0;
    // Only for the error that others get.
    let told = file
        .set_len(0)
        .and_then(|()| file.seek(SeekFrom::Start(0)))
        .and_then(|_| writeln!(file, "{}", std::process::id()));
    match told {
        // What makes room on a full disk must be able to open it.
        Err(error) if is_full(&error) => {}
        told => told.map_err(failed)?,
    }
    Ok((file, closed))
}

fn in_use(path: &Path, lock: &mut File) -> KvError {
    let mut text = String::new();
    let holder = match lock.take(32).read_to_string(&mut text) {
        Ok(_) => text.trim().parse::<u32>().ok(),
        Err(_) => None,
    };
    let message = match holder {
        Some(pid) if pid == std::process::id() => {
            "it is open in this process already; share that engine".to_owned()
        }
        Some(pid) => format!("it is open in process {pid}; stop that, or name another directory"),
        None => "it is open in another process; stop that, or name another directory".to_owned(),
    };
    directory_error(KvErrorKind::Unavailable, path, &message)
}

/// An error about a directory, named first.
pub(crate) fn directory_error(kind: KvErrorKind, path: &Path, message: &str) -> KvError {
    KvError::new(kind, "open", format!("directory {}: {message}", path.display()))
}

pub(crate) fn io_error(path: &Path, what: &str, error: io::Error) -> KvError {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied => KvErrorKind::PermissionDenied,
        io::ErrorKind::ReadOnlyFilesystem => KvErrorKind::ReadOnly,
        _ if is_full(&error) => KvErrorKind::NoSpace,
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            KvErrorKind::InvalidArgument
        }
        _ => KvErrorKind::Internal,
    };
    let remedy = match kind {
        KvErrorKind::PermissionDenied => "; give this user the right to write it",
        KvErrorKind::ReadOnly => "; it needs a file system that can be written",
        KvErrorKind::NoSpace => "; make room on its file system",
        KvErrorKind::InvalidArgument => "; name a directory",
        _ => "",
    };
    directory_error(kind, path, &format!("it {what}{remedy}")).with_source(error)
}

/// Whether an error says, itself or by one of its causes, that the disk is full.
pub(crate) fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>()
            && matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        {
            return true;
        }
        next = error.source();
    }
    false
}

/// What the database underneath said, as the error of an opening.
pub(crate) fn base_error(path: &Path, error: BoxError) -> KvError {
    if is_full(error.as_ref()) {
        let message = "there is no room to open it; make some on its file system";
        return directory_error(KvErrorKind::NoSpace, path, message).with_source(error);
    }
    let denied = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    if denied.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        let message = "what is in data cannot be opened; give this user the right to read and write it";
        return directory_error(KvErrorKind::PermissionDenied, path, message).with_source(error);
    }
    let message = "what is in data is damaged or cannot be read; restore the directory from a backup";
    directory_error(KvErrorKind::Corrupt, path, message).with_source(error)
}

/// Opens a file for writing, and makes it if need be, such that only its owner may read it.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a directory that only its owner may enter, for good; leaves one that is there as it is.
fn make_private(path: &Path) -> io::Result<()> {
    // Those that are made, and the one they are made in.
    let made = path.ancestors().take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists());
    let made: Vec<&Path> = made.filter_map(Path::parent).collect();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    for parent in made {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}

#[cfg(unix)]
fn allocated(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn allocated(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
