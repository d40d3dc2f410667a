#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(any(feature = "aes-gcm", feature = "aes-cbc", feature = "secretbox")),
    expect(dead_code, reason = "without a cipher no provider has keys")
)]

mod chain;
mod cipher;
#[cfg(feature = "config")]
mod config;
mod context;
mod envelope;
mod error;
mod identity;
mod key;
mod maybe_ready;
mod provider;
mod transformer;
mod usage;

use std::{future::Future, pin::Pin};

pub use chain::ProviderChain;
#[cfg(feature = "config")]
pub use config::{ConfigError, ConfigProblem, EncryptionConfig, ResourcePattern, ResourceRule};
pub use context::ValueContext;
pub use envelope::{ENVELOPE_PREFIX, EnvelopeHeader};
pub use error::{BoxError, TransformError, TransformErrorKind};
pub use identity::Identity;
pub use key::{Key, KeyError};
pub use maybe_ready::MaybeReady;
pub use provider::{Provider, ProviderError};
pub use transformer::{Opened, Transformer};
pub use usage::{DEFAULT_WRITE_WARNING, KeyWrites, RANDOM_NONCE_BOUND};

/// A future on the heap, as [`MaybeReady`] may hold one.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
