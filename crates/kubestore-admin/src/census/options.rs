//! How a census is taken.

use std::time::Duration;

use kubestore_transform::EncryptionConfig;

use crate::{Progress, progress::Observer};

/// How a census is taken. The default judges nothing and tells nobody.
#[derive(Clone, Debug)]
pub struct CensusOptions {
    pub(super) config: Option<EncryptionConfig>,
    pub(super) observer: Observer,
    pub(super) retry_for: Duration,
}

impl CensusOptions {
    /// Compares what is found with a configuration, by names alone: see [`Standing`](super::Standing).
    #[must_use]
    pub fn against(mut self, config: &EncryptionConfig) -> Self {
        self.config = Some(config.clone());
        self
    }

    /// Tells the progress, often; `observe` should be quick.
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

impl Default for CensusOptions {
    fn default() -> Self {
        Self { config: None, observer: Observer::default(), retry_for: crate::retry::PATIENCE }
    }
}
