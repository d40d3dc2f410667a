//! What an import did.

use serde::Serialize;

use crate::{Failures, MOST_FAILURES};

/// What an import did. As JSON it has the same names in camel case.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// What the export is of, as it says itself.
    pub scope: String,
    /// The revision that the export is of.
    pub revision: i64,
    /// Keys read.
    pub seen: u64,
    /// Keys that were not there.
    pub created: u64,
    /// Keys that had another value, which was replaced as was asked for.
    pub overwritten: u64,
    /// Keys that had the same value already.
    pub same: u64,
    /// Keys that had another value, which was left alone.
    pub skipped: Skipped,
    /// Keys left out because of their lease.
    pub left_out: u64,
    /// Keys that had a lease and were written without one.
    pub leases_dropped: u64,
    /// Leases granted.
    pub leases_granted: u64,
    /// Keys that could not be written.
    pub failures: Failures,
}

impl ImportReport {
    /// Whether every key that was to be written has the value of the export.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failures.is_empty() && self.skipped.total == 0
    }
}

/// Keys that had another value.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// All of them.
    pub total: u64,
    /// The first [`MOST_FAILURES`] of them; bytes that are no text are replaced.
    pub first: Vec<String>,
}

impl Skipped {
    pub(super) fn add(&mut self, key: &[u8]) {
        self.total += 1;
        if self.first.len() < MOST_FAILURES {
            self.first.push(String::from_utf8_lossy(key).into_owned());
        }
    }
}
