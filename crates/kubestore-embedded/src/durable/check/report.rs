//! What a look into a directory found, and what a repair did.

use std::{fmt, ops::RangeInclusive, path::PathBuf};

use kubestore_kv::Revision;

/// How to look into a directory.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// Where a copy may be made for the time of the look: an existing directory with as much room as the data takes, or
    /// with none to speak of on the same file system, where tables are linked. Default: the temporary directory of the
    /// system.
    pub scratch: Option<PathBuf>,
}

impl CheckOptions {
    /// Sets [`scratch`](Self::scratch).
    #[must_use]
    pub fn with_scratch(mut self, directory: impl Into<PathBuf>) -> Self {
        self.scratch = Some(directory.into());
        self
    }
}

/// What a look into a directory found.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The newest revision; 1 for an empty store.
    pub head: Revision,
    /// The compacted revision, 0 for none.
    pub compacted: Revision,
    /// Keys that exist at the head.
    pub keys: u64,
    /// Versions of keys that were read, deletions included.
    pub versions: u64,
    /// Leases that have not ended.
    pub leases: u64,
    /// Bytes of all that was read.
    pub bytes: u64,
    /// What is wrong, the worst first. Empty for a directory that opens with everything that was acknowledged.
    pub problems: Vec<Problem>,
    /// Whether the end of the journal is torn, as a power cut or a kill leaves it. The next opening cuts it off; it is
    /// no problem, as long as nothing acknowledged is in it.
    pub torn_end: bool,
}

impl CheckReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Something that is wrong with a directory. Says what is lost and never what was in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub(super) kind: ProblemKind,
    pub(super) message: String,
    pub(super) revisions: Option<RangeInclusive<i64>>,
}

/// What is wrong.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The data cannot be read at all.
    Unreadable,
    /// Revisions between the compacted one and the head are not there.
    MissingRevisions,
    /// The newest writes, although acknowledged, are not there.
    LostEnd,
    /// An entry fails its checksum, or is of no known form.
    DamagedEntry,
    /// The summary of all entries is missing, damaged, or does not fit them.
    Summary,
    /// A version does not follow the one before it.
    Version,
    /// A key belongs to a lease that is not there: it would never end.
    Lease,
    /// The file that says what was acknowledged is missing or damaged: a loss of the newest writes does not show.
    Mark,
}

impl Problem {
    pub(super) fn new(kind: ProblemKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), revisions: None }
    }

    pub(super) fn of_revisions(
        kind: ProblemKind,
        revisions: RangeInclusive<i64>,
        message: impl Into<String>,
    ) -> Self {
        Self { kind, message: message.into(), revisions: Some(revisions) }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ProblemKind {
        self.kind
    }

    /// The revisions concerned, as far as that is known.
    #[must_use]
    pub fn revisions(&self) -> Option<RangeInclusive<Revision>> {
        self.revisions.as_ref().map(|range| Revision(*range.start())..=Revision(*range.end()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a repair did.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairReport {
    /// What was wrong. When nothing was, nothing was changed.
    pub problems: Vec<Problem>,
    /// Where the data is that was there before; `None` if nothing was changed.
    pub kept: Option<PathBuf>,
    /// Whether all versions could be kept. If not, only the newest one of each key that can be read is there, and all
    /// revisions before are compacted: watches and paged lists have to begin anew.
    pub history_kept: bool,
    /// Keys that exist now.
    pub keys: u64,
    /// Keys that lost their lease and do not end any more.
    pub without_lease: u64,
    /// The newest revision now. It is never below one that was acknowledged.
    pub head: Revision,
}
