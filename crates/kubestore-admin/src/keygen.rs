//! New keys.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use crate::AdminError;

/// A provider that has keys.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyProvider {
    /// AES-GCM with 256 bits.
    AesGcm,
    /// AES-CBC with 256 bits. It has no authentication; take another one for new data.
    AesCbc,
    /// XSalsa20-Poly1305.
    Secretbox,
}

impl KeyProvider {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AesGcm, Self::AesCbc, Self::Secretbox];

    /// Its name in an encryption configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AesGcm => "aesgcm",
            Self::AesCbc => "aescbc",
            Self::Secretbox => "secretbox",
        }
    }
}

/// Bytes of a secret; all providers take 32.
const SECRET: usize = 32;
/// The longest name that is believed in an envelope.
const LONGEST_NAME: usize = 253;

/// A new key as it is written into an encryption configuration.
///
/// [`yaml`](Self::yaml) is the only thing in this crate that shows a secret. `Debug` does not, and the text is wiped from
/// memory when this is dropped.
pub struct KeySnippet {
    provider: KeyProvider,
    name: String,
    yaml: Zeroizing<String>,
}

/// Makes a key from the operating system's random bytes.
///
/// ```
/// use kubestore_admin::{KeyProvider, keygen};
///
/// let snippet = keygen(KeyProvider::AesGcm, "key-2026-05")?;
/// assert!(snippet.yaml().starts_with("- aesgcm:\n    keys:\n    - name: \"key-2026-05\"\n      secret: "));
/// # Ok::<(), kubestore_admin::AdminError>(())
/// ```
///
/// # Errors
/// The name is empty, too long, or has something else in it than letters, digits, `-`, `_` and `.`; or the operating system
/// gives no random bytes.
pub fn keygen(provider: KeyProvider, name: &str) -> Result<KeySnippet, AdminError> {
    check(name)?;
    let mut secret = Zeroizing::new([0; SECRET]);
    getrandom::fill(&mut *secret).map_err(|cause| AdminError::RandomSource { source: cause.into() })?;
    let encoded = Zeroizing::new(STANDARD.encode(secret.as_slice()));
    // The name in quotes, or YAML would take some for numbers or booleans. In one allocation, which is wiped.
    let parts =
        ["- ", provider.name(), ":\n    keys:\n    - name: \"", name, "\"\n      secret: ", &*encoded, "\n"];
    let mut yaml = Zeroizing::new(String::with_capacity(parts.iter().map(|part| part.len()).sum()));
    parts.iter().for_each(|part| yaml.push_str(part));
    Ok(KeySnippet { provider, name: name.to_owned(), yaml })
}

impl KeySnippet {
    /// The provider.
    #[must_use]
    pub fn provider(&self) -> KeyProvider {
        self.provider
    }

    /// The key's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An element of `providers` in an encryption configuration, **with the secret**. The `keys` may as well be added to
    /// those of a provider that is there already.
    #[must_use]
    pub fn yaml(&self) -> &str {
        &self.yaml
    }
}

impl fmt::Debug for KeySnippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySnippet")
            .field("provider", &self.provider)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn check(name: &str) -> Result<(), AdminError> {
    let refuse = |reason| Err(AdminError::KeyName { name: name.to_owned(), reason });
    if name.is_empty() {
        return refuse("it is empty");
    }
    if name.len() > LONGEST_NAME {
        return refuse("it has more than 253 characters");
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return refuse("it may have letters, digits, `-`, `_` and `.` alone");
    }
    Ok(())
}
