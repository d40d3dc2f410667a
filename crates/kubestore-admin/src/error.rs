//! What stops a job as a whole.

use kubestore_kv::{BoxError, KvError, KvErrorKind, Revision};

/// A job that could not be done, or not to its end.
///
/// What is wrong with a single value is no error of the job but a [`Failure`](crate::Failure) in its report. No error
/// shows a secret or a value.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// The backend failed. Nothing is half done: each value was either rewritten as a whole or left alone.
    #[error("{job}: the backend failed after {done} values were written; do it again to go on from there")]
    Backend {
        /// `census`, `diff`, `export`, `import`, `rewrap` or `verify`.
        job: &'static str,
        /// Values written until then.
        done: u64,
        /// What the backend said.
        source: Box<KvError>,
    },
    /// What is imported is no export, or one that is damaged.
    #[error("import: line {line} of the export: {reason}")]
    BadExport {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The export to be imported could not be read.
    #[error("import: the export could not be read after line {line}")]
    Input {
        /// The last line that was read, from 1; 0 is none.
        line: u64,
        /// What its reader said.
        source: BoxError,
    },
    /// A revision was compacted while it was read.
    #[error(
        "{job}: revision {revision} was compacted while it was read, so that not all of it is there; do it again, \
         let the job go on at newer revisions, or read a snapshot"
    )]
    Compacted {
        /// `diff` or `export`.
        job: &'static str,
        /// The revision.
        revision: i64,
        /// What the backend said.
        source: Box<KvError>,
    },
    /// A resource that Kubernetes does not have.
    #[error(
        "unknown resource {name:?}; write it as kubectl takes it, a custom one with its group (widgets.shop.example.com), \
         or the first part of its keys (/{name})"
    )]
    UnknownResource {
        /// What was written.
        name: String,
    },
    /// A key's name that cannot be in an envelope or in a configuration.
    #[error("a key cannot be named {name:?}: {reason}")]
    KeyName {
        /// The name.
        name: String,
        /// What is wrong with it, and what is right.
        reason: &'static str,
    },
    /// The operating system gave no random bytes.
    #[error("no key was made: the operating system gave no random bytes")]
    RandomSource {
        /// What it said.
        source: BoxError,
    },
}

impl AdminError {
    /// What became of a job that read at `revision`.
    pub(crate) fn reading(job: &'static str, revision: Revision, source: KvError) -> Self {
        let source = Box::new(source);
        if source.kind() == KvErrorKind::Compacted {
            return Self::Compacted { job, revision: revision.0, source };
        }
        Self::Backend { job, done: 0, source }
    }
}
