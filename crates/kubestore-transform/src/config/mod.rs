//! Kubernetes' `EncryptionConfiguration` files.

mod encryption_config;
mod error;
mod key_pool;
mod node;
mod reader;
mod resource_checks;
mod resource_pattern;
mod walker;

pub use encryption_config::{EncryptionConfig, ResourceRule};
pub use error::{ConfigError, ConfigProblem};
pub use resource_pattern::ResourcePattern;
