//! What is wrong with a file, and where.

use std::{error::Error, fmt, io};

use kubestore_kv::{BoxError, KvError, KvErrorKind};

/// What is wrong with a file, as far as a caller can act on it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SnapshotErrorKind {
    /// The checksum at the end of a snapshot is not that of what comes before it.
    ChecksumMismatch,
    /// The pages contradict themselves or each other.
    Damaged,
    /// Another process has the database open for writing.
    InUse,
    /// It is no bbolt database, or not one of etcd.
    NotEtcd,
    /// It holds more than this reader takes.
    TooLarge,
    /// It is shorter than it says that it is.
    Truncated,
    /// The operating system could not read it.
    Unreadable,
}

/// A file that cannot be read as an etcd snapshot.
///
/// `Display` names the file, the page and the offset in the file where they are known, and what is wrong; no key and no
/// value is shown.
pub struct SnapshotError(Box<Inner>);

struct Inner {
    kind: SnapshotErrorKind,
    file: Option<String>,
    page: Option<u64>,
    offset: Option<u64>,
    message: String,
    source: Option<BoxError>,
}

impl SnapshotError {
    pub(crate) fn new(kind: SnapshotErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Inner { kind, file: None, page: None, offset: None, message, source: None }))
    }

    pub(crate) fn damaged(page: u64, offset: u64, message: impl Into<String>) -> Self {
        Self::new(SnapshotErrorKind::Damaged, message).at(Some(page), offset)
    }

    pub(crate) fn unreadable(offset: u64, cause: io::Error) -> Self {
        Self::new(SnapshotErrorKind::Unreadable, "cannot read the file").at(None, offset).with_source(cause)
    }

    pub(crate) fn at(mut self, page: Option<u64>, offset: u64) -> Self {
        self.0.page = page;
        self.0.offset = Some(offset);
        self
    }

    pub(crate) fn with_source(mut self, cause: impl Into<BoxError>) -> Self {
        self.0.source = Some(cause.into());
        self
    }

    pub(crate) fn in_file(mut self, file: &str) -> Self {
        self.0.file = Some(file.to_owned());
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> SnapshotErrorKind {
        self.0.kind
    }

    /// The number of the page where it is wrong, if it is in one.
    #[must_use]
    pub fn page(&self) -> Option<u64> {
        self.0.page
    }

    /// Where in the file it is wrong, in bytes from its beginning.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The same while an operation of [`Kv`](kubestore_kv::Kv) was done.
    pub(crate) fn into_kv(self, operation: &'static str) -> KvError {
        let (kind, message) = match self.kind() {
            SnapshotErrorKind::Unreadable => (KvErrorKind::Internal, "the snapshot cannot be read"),
            _ => (KvErrorKind::Corrupt, "the snapshot is not what it was when it was opened; open it again"),
        };
        KvError::new(kind, operation, message).with_source(self)
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.0.file {
            write!(f, "{file}: ")?;
        }
        match (self.0.page, self.0.offset) {
            (Some(page), Some(offset)) => write!(f, "page {page}, file offset {offset}: ")?,
            (None, Some(offset)) => write!(f, "file offset {offset}: ")?,
            _ => {}
        }
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotError")
            .field("kind", &self.0.kind)
            .field("file", &self.0.file)
            .field("page", &self.0.page)
            .field("offset", &self.0.offset)
            .field("message", &self.0.message)
            .field("source", &self.0.source)
            .finish()
    }
}

impl Error for SnapshotError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|cause| cause as _)
    }
}
