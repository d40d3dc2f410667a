//! How two key spaces are compared.

use std::time::Duration;

use kubestore_kv::Revision;

use crate::{job_options::job_options, progress::Observer};

/// How two key spaces are compared.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    pub(super) before: Option<Revision>,
    pub(super) after: Option<Revision>,
    pub(super) revisions: bool,
    pub(super) observer: Observer,
    pub(super) retry_for: Duration,
}

impl DiffOptions {
    /// The state of the first side; the newest by default.
    #[must_use]
    pub fn before_at(mut self, revision: Revision) -> Self {
        self.before = Some(revision);
        self
    }

    /// The state of the second side; the newest by default.
    #[must_use]
    pub fn after_at(mut self, revision: Revision) -> Self {
        self.after = Some(revision);
        self
    }

    /// Whether a key that was written anew with the same bytes is different; not by default. Of use if both sides are of one
    /// server.
    #[must_use]
    pub fn compare_revisions(mut self, on: bool) -> Self {
        self.revisions = on;
        self
    }
}

job_options!(DiffOptions, " after every key, over the keys of both sides");

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            before: None,
            after: None,
            revisions: false,
            observer: Observer::default(),
            retry_for: crate::retry::PATIENCE,
        }
    }
}
