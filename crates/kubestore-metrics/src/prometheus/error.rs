//! A registry that does not take the metrics.

use std::{error::Error, fmt};

/// The metrics could not be registered; the registry is as it was. The cause is Prometheus' own error.
#[derive(Debug)]
pub struct RegisterError(pub(super) prometheus::Error);

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the registry does not take the storage metrics, most likely because another recorder has registered them; \
             make one recorder and clone it",
        )
    }
}

impl Error for RegisterError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}
