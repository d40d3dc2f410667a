//! What stops a job as a whole.

use kubestore_kv::{BoxError, KvError};

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
        /// `census`, `rewrap` or `verify`.
        job: &'static str,
        /// Values written until then.
        done: u64,
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
