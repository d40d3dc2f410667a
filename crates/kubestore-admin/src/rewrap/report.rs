//! What became of the values.

use std::{collections::BTreeMap, ops::AddAssign};

use serde::Serialize;

use crate::{Failures, ResourceId};

/// What became of the values. As JSON it has the same names in camel case.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RewrapReport {
    /// Whether nothing was to be written; [`RewrapCounts::rewritten`] then counts what would have been.
    pub dry_run: bool,
    /// Whether the last pass over all keys found nothing stale that was there when it began, apart from the failures.
    /// Always so in a dry run. If not, others went on writing with an older configuration: see
    /// [`written_meanwhile`](Self::written_meanwhile).
    pub complete: bool,
    /// How often all keys were read.
    pub passes: u32,
    /// The revision at which the last pass began: nothing stale is left that was written before it, if it is
    /// [`complete`](Self::complete).
    pub revision: i64,
    /// Stale values that were written after the job began. They come from servers with an older configuration, which go on
    /// writing such values after the job: give all servers the new one, then do it again.
    pub written_meanwhile: u64,
    /// All resources together.
    pub total: RewrapCounts,
    /// Each resource.
    pub resources: BTreeMap<ResourceId, RewrapCounts>,
    /// The values that cannot be opened or written, as of the last pass.
    pub failures: Failures,
}

/// Numbers of values. The first pass counts all of them, each further one what it found stale.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RewrapCounts {
    /// Looked at.
    pub seen: u64,
    /// Stored as they would be written, or made so by somebody else meanwhile: only read.
    pub fresh: u64,
    /// Encrypted again and written.
    pub rewritten: u64,
    /// How often a value had changed since it was read, and was read and judged again.
    pub retries: u64,
    /// Deleted by somebody else meanwhile.
    pub vanished: u64,
    /// Cannot be opened or written, as of the last pass.
    pub failed: u64,
}

impl RewrapReport {
    /// Whether all that was there is now stored as it would be written.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.complete && self.failures.is_empty()
    }
}

impl AddAssign for RewrapCounts {
    fn add_assign(&mut self, other: Self) {
        self.seen += other.seen;
        self.fresh += other.fresh;
        self.rewritten += other.rewritten;
        self.retries += other.retries;
        self.vanished += other.vanished;
        self.failed += other.failed;
    }
}
