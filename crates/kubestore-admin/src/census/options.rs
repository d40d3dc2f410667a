//! How a census is taken.

use std::time::Duration;

use kubestore_transform::EncryptionConfig;

use crate::{job_options::job_options, progress::Observer};

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
}

job_options!(CensusOptions, ", often");

impl Default for CensusOptions {
    fn default() -> Self {
        Self { config: None, observer: Observer::default(), retry_for: crate::retry::PATIENCE }
    }
}
