//! Why writes are refused at the moment, and what those who asked for them are told.

use std::{
    error::Error,
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use kubestore_kv::{BoxError, KvError, KvErrorKind};

/// How long writes are refused without a try after one failed.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// What keeps writes from being made.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    /// What is on disk is in doubt: nothing more is written.
    Doubt(Cause),
    /// The disk refused, nobody knows for how long.
    Refused { cause: Cause, until: Instant },
    /// The disk is full: only what makes room is written.
    Full {
        cause: Cause,
        /// When to look for room again.
        until: Instant,
        /// Whether not even the reserve was enough.
        stuck: bool,
    },
}

impl Trouble {
    pub(super) fn refused(cause: Cause) -> Self {
        Self::Refused { cause, until: Instant::now() + PAUSE }
    }

    pub(super) fn full(cause: Cause, stuck: bool) -> Self {
        Self::Full { cause, until: Instant::now() + PAUSE, stuck }
    }

    pub(super) fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. })
    }

    /// Whether it is time to look again.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Doubt(_) => false,
            Self::Refused { until, .. } | Self::Full { until, .. } => *until <= Instant::now(),
        }
    }

    /// Whether what makes room may be written nevertheless.
    pub(super) fn lets_shrink(&self) -> bool {
        matches!(self, Self::Full { stuck: false, .. })
    }

    /// The answer to a write that was not tried, or failed without a trace.
    pub(super) fn refusal(&self, operation: &'static str, directory: &Path) -> KvError {
        let (kind, message) = match self {
            Self::Doubt(_) => (
                KvErrorKind::ReadOnly,
                "an earlier write failed and what is on disk is in doubt; close the engine and open it again",
            ),
            Self::Refused { .. } => {
                (KvErrorKind::Internal, "the disk refused and nothing was written; look at the cause")
            }
            Self::Full { stuck: true, .. } => (
                KvErrorKind::NoSpace,
                "the disk is full, also where room was held back for deletions, and nothing was written; make room \
                 on its file system",
            ),
            Self::Full { stuck: false, .. } => (
                KvErrorKind::NoSpace,
                "the disk is full and nothing was written; make room on its file system, or delete and compact, \
                 which still works",
            ),
        };
        self.error(kind, operation, directory, message)
    }

    /// The answer to a write that may be on disk.
    pub(super) fn unknown(&self, operation: &'static str, directory: &Path) -> KvError {
        let message =
            "the write failed so late that it may be on disk; close the engine, open it again and read";
        self.error(KvErrorKind::OutcomeUnknown, operation, directory, message)
    }

    fn error(&self, kind: KvErrorKind, operation: &'static str, directory: &Path, message: &str) -> KvError {
        let (Self::Doubt(cause) | Self::Refused { cause, .. } | Self::Full { cause, .. }) = self;
        KvError::new(kind, operation, format!("directory {}: {message}", directory.display()))
            .with_source(cause.clone())
    }
}

/// One cause for many errors.
#[derive(Clone, Debug)]
pub(super) struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    pub(super) fn new(error: BoxError) -> Self {
        Self(Arc::from(error))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
