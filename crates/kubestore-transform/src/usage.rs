//! How often a key was used.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many values one AES-GCM key may seal in its whole life, all servers counted: 2<sup>32</sup>.
///
/// The nonces are 96 random bits. Two equal ones under one key would give away the difference of two values and the
/// means to forge others. After 2<sup>32</sup> values the chance that this has happened is below 2<sup>-32</sup>, which
/// is what NIST SP 800-38D (section 8.3) allows. Kubernetes' documentation asks for a new key every 200,000 writes,
/// where that chance is 2<sup>-61</sup>.
pub const RANDOM_NONCE_BOUND: u64 = 1 << 32;

/// After how many writes in one process a key of AES-GCM is warned about, unless the provider says otherwise.
///
/// It is Kubernetes' advice and not [`RANDOM_NONCE_BOUND`], because one process sees neither the writes of the other
/// servers nor those before it started.
pub const DEFAULT_WRITE_WARNING: u64 = 200_000;

/// How many values a key has sealed in this process.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyWrites {
    /// The provider's name in the envelope.
    pub provider: String,
    /// The key's name in the envelope.
    pub key: String,
    /// Values sealed since the process began; those of other servers are not in it.
    pub writes: u64,
}

/// The counter of one key. Providers that hold the same key may share it.
#[derive(Debug, Default)]
pub(crate) struct Usage(AtomicU64);

impl Usage {
    pub(crate) fn writes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one write, and warns when it is the `warn_at`th, once.
    pub(crate) fn count(&self, provider: &str, key: &str, warn_at: Option<u64>) {
        let writes = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        if warn_at == Some(writes) {
            tracing::warn!(
                provider,
                key,
                writes,
                bound = RANDOM_NONCE_BOUND,
                "this process has sealed {writes} values with one key; put a new key first in the encryption \
                 configuration and re-encrypt, well before all servers together reach the bound"
            );
        }
    }
}
