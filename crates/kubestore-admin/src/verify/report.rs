//! What opens and what does not.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{FailureCause, Failures, ResourceId, failure::Problem};

/// What opens and what does not. As JSON it has the same names in camel case.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    /// The revision at which it began: every value of that revision was opened, unless it was replaced or deleted
    /// meanwhile.
    pub revision: i64,
    /// All resources together.
    pub total: VerifyCounts,
    /// Each resource.
    pub resources: BTreeMap<ResourceId, VerifyCounts>,
    /// What does not open.
    pub failures: Failures,
}

/// Numbers of values.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyCounts {
    /// Looked at.
    pub seen: u64,
    /// Opened.
    pub open: u64,
    /// Of those, how many are not stored as they would be written now.
    pub stale: u64,
    /// Not opened.
    pub failed: u64,
    /// Not opened, by cause.
    pub causes: BTreeMap<FailureCause, u64>,
}

impl VerifyReport {
    /// Whether everything opened.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failures.is_empty()
    }

    pub(super) fn note(&mut self, key: &[u8], resource: ResourceId, opened: Result<bool, Problem>) {
        let opened = match opened {
            Ok(stale) => Ok(stale),
            Err(problem) => {
                let cause = problem.cause;
                self.failures.add(problem.of(key, &resource));
                Err(cause)
            }
        };
        self.total.note(opened);
        self.resources.entry(resource).or_default().note(opened);
    }
}

impl VerifyCounts {
    fn note(&mut self, opened: Result<bool, FailureCause>) {
        self.seen += 1;
        match opened {
            Ok(stale) => {
                self.open += 1;
                self.stale += u64::from(stale);
            }
            Err(cause) => {
                self.failed += 1;
                *self.causes.entry(cause).or_default() += 1;
            }
        }
    }
}
