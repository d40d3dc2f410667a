//! How values are rewritten.

use std::{num::NonZeroU32, time::Duration};

use crate::{job_options::job_options, progress::Observer};

/// How values are rewritten.
#[derive(Clone, Debug)]
pub struct RewrapOptions {
    pub(super) concurrency: usize,
    pub(super) rate: Option<NonZeroU32>,
    pub(super) dry_run: bool,
    pub(super) most_passes: u32,
    pub(super) observer: Observer,
    pub(super) retry_for: Duration,
}

impl RewrapOptions {
    /// How many values are worked on at once, 16 by default; at least one is.
    #[must_use]
    pub fn concurrency(mut self, values: usize) -> Self {
        self.concurrency = values.max(1);
        self
    }

    /// At most this many writes per second, evenly spread; as many as the backend takes by default.
    #[must_use]
    pub fn rate(mut self, writes_per_second: Option<NonZeroU32>) -> Self {
        self.rate = writes_per_second;
        self
    }

    /// Opens and seals everything as if it were to be written, but writes nothing.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// How often all keys may be read, 10 times by default and at least once. One pass is enough where nothing is stale,
    /// two where nobody else writes; more are needed while others still write with an older configuration.
    #[must_use]
    pub fn most_passes(mut self, passes: u32) -> Self {
        self.most_passes = passes.max(1);
        self
    }
}

job_options!(RewrapOptions, " after every value");

impl Default for RewrapOptions {
    fn default() -> Self {
        Self {
            concurrency: 16,
            rate: None,
            dry_run: false,
            most_passes: 10,
            observer: Observer::default(),
            retry_for: crate::retry::PATIENCE,
        }
    }
}
