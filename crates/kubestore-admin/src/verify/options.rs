//! How a check is done.

use std::time::Duration;

use crate::{Progress, progress::Observer};

/// How a check is done.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    pub(super) observer: Observer,
    pub(super) retry_for: Duration,
}

impl VerifyOptions {
    /// Tells the progress after every value; `observe` should be quick.
    #[must_use]
    pub fn on_progress(mut self, observe: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.observer = Observer::new(observe);
        self
    }

    /// How long a backend may be away before the job fails; 30 seconds by default.
    #[must_use]
    pub fn retry_for(mut self, patience: Duration) -> Self {
        self.retry_for = patience;
        self
    }
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self { observer: Observer::default(), retry_for: crate::retry::PATIENCE }
    }
}
