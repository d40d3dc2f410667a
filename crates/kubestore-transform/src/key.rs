//! A named secret.

use std::fmt;

use zeroize::Zeroizing;

/// The secret of a provider, and the name under which the envelope refers to it.
///
/// The secret is wiped from memory when the last copy is dropped, and no `Debug` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    name: String,
    secret: Zeroizing<Vec<u8>>,
}

impl Key {
    /// The raw bytes of a secret, not their base64. Which lengths are right depends on the provider.
    ///
    /// # Errors
    /// [`KeyError`] if the name or the secret is empty.
    pub fn new(name: impl Into<String>, secret: impl Into<Vec<u8>>) -> Result<Self, KeyError> {
        let (name, secret) = (name.into(), Zeroizing::new(secret.into()));
        if name.is_empty() {
            return Err(KeyError::NoName);
        }
        if secret.is_empty() {
            return Err(KeyError::NoSecret { name });
        }
        Ok(Self { name, secret })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn secret(&self) -> &[u8] {
        &self.secret
    }

    pub(crate) fn wrong_length(&self, provider: &'static str, expected: &'static str) -> KeyError {
        KeyError::WrongLength { name: self.name.clone(), provider, got: self.secret.len(), expected }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("name", &self.name).field("secret", &format_args!("[redacted]")).finish()
    }
}

/// A key that cannot be used.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The name is empty.
    #[error("a key has no name; give it one, it goes into every value written with the key")]
    NoName,
    /// The secret is empty.
    #[error("key {name:?} has no secret; make one of random bytes")]
    NoSecret {
        /// The key's name.
        name: String,
    },
    /// The secret is too long or too short for the provider.
    #[error("the secret of key {name:?} has {got} bytes, {provider} takes {expected}")]
    WrongLength {
        /// The key's name.
        name: String,
        /// The provider.
        provider: &'static str,
        /// How many bytes it has.
        got: usize,
        /// How many it should have.
        expected: &'static str,
    },
}
