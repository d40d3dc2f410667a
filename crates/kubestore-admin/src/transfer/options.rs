//! How keys are taken out and put in.

use std::{num::NonZeroUsize, time::Duration};

use kubestore_kv::Revision;

use crate::{job_options::job_options, progress::Observer, retry::PATIENCE};

/// How an export is made.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    pub(super) revision: Option<Revision>,
    pub(super) newer: bool,
    pub(super) observer: Observer,
    pub(super) retry_for: Duration,
}

impl ExportOptions {
    /// The state to export; the newest by default.
    #[must_use]
    pub fn at(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// If the revision is compacted meanwhile, go on at the newest one; an error by default. The end of such an export
    /// says so, and it is of no single state.
    #[must_use]
    pub fn go_on_at_newer_revisions(mut self, on: bool) -> Self {
        self.newer = on;
        self
    }
}

job_options!(ExportOptions, " after every part");

impl Default for ExportOptions {
    fn default() -> Self {
        Self { revision: None, newer: false, observer: Observer::default(), retry_for: PATIENCE }
    }
}

/// What becomes of keys that had a lease.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImportLeases {
    /// They are written without one, and stay until somebody deletes them.
    #[default]
    Drop,
    /// A lease is granted for each that the export has, with the time that remained when it was made. Keys whose lease had
    /// ended are left out.
    Renew,
    /// They are left out.
    Skip,
}

/// How an import is done.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    pub(super) overwrite: bool,
    pub(super) leases: ImportLeases,
    pub(super) in_flight: NonZeroUsize,
    pub(super) observer: Observer,
    pub(super) retry_for: Duration,
}

const IN_FLIGHT: NonZeroUsize = NonZeroUsize::new(64).unwrap();

impl ImportOptions {
    /// Replaces what a key has; by default a key that exists is left alone and told.
    #[must_use]
    pub fn overwrite(mut self, on: bool) -> Self {
        self.overwrite = on;
        self
    }

    /// What becomes of keys that had a lease; [`ImportLeases::Drop`] by default.
    #[must_use]
    pub fn leases(mut self, leases: ImportLeases) -> Self {
        self.leases = leases;
        self
    }

    /// How many writes may be on their way at once; 64 by default.
    #[must_use]
    pub fn in_flight(mut self, writes: NonZeroUsize) -> Self {
        self.in_flight = writes;
        self
    }
}

job_options!(ImportOptions, " after every key");

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            overwrite: false,
            leases: ImportLeases::default(),
            in_flight: IN_FLIGHT,
            observer: Observer::default(),
            retry_for: PATIENCE,
        }
    }
}
