//! What clients met.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use kubestore_core::{ErrorKind, StorageError};
use kubestore_kv::{KvError, KvErrorKind};

use super::by_kind;

/// Counts of what clients asked and were told.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Operations that were answered.
    pub answered: usize,
    /// Those that failed, by kind of error.
    pub errors: BTreeMap<String, usize>,
    /// The longest that one operation took.
    pub longest: Duration,
    /// Watches that were begun anew after they had ended.
    pub reopened: usize,
}

/// An error, as far as it is counted.
#[derive(Debug)]
pub(super) struct Failed {
    kind: String,
    /// Whether a write may have been applied nevertheless.
    pub(super) is_unknown: bool,
}

impl From<KvError> for Failed {
    fn from(error: KvError) -> Self {
        let kind = error.kind();
        Self { kind: format!("{kind:?}"), is_unknown: kind == KvErrorKind::OutcomeUnknown }
    }
}

impl From<StorageError> for Failed {
    fn from(error: StorageError) -> Self {
        let kind = error.kind();
        Self { kind: format!("{kind:?} of the store"), is_unknown: kind == ErrorKind::OutcomeUnknown }
    }
}

impl Tally {
    /// Notes what an operation that began at `begun` came to.
    pub(super) fn note<T>(&mut self, begun: Instant, result: Result<T, impl Into<Failed>>) -> Option<T> {
        self.longest = self.longest.max(begun.elapsed());
        match result {
            Ok(answer) => {
                self.answered += 1;
                Some(answer)
            }
            Err(error) => {
                *self.errors.entry(error.into().kind).or_default() += 1;
                None
            }
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.longest = self.longest.max(other.longest);
        self.reopened += other.reopened;
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
    }

    pub(super) fn add_reopened(&mut self, reopened: usize) {
        self.reopened += reopened;
    }

    /// How often something failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.errors.values().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answered, errors, longest, reopened } = self;
        write!(
            f,
            "{answered} answers; errors: {}; the longest operation took {longest:.1?}; {reopened} watches begun anew",
            by_kind(errors)
        )
    }
}
