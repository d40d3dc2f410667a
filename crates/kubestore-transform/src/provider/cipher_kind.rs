//! The ciphers that providers with keys may use.

use std::fmt;

use crate::{Key, KeyError, cipher::Cipher};

/// A cipher, by its name in the envelope.
#[derive(Clone, Copy)]
pub(crate) struct CipherKind {
    pub(crate) name: &'static str,
    /// How values begin, up to the key's name.
    pub(crate) prefix: &'static str,
    /// After how many writes a key is warned about: short nonces only.
    pub(crate) write_warning: Option<u64>,
    pub(crate) cipher: fn(&Key) -> Result<Box<dyn Cipher>, KeyError>,
}

impl CipherKind {
    #[cfg(feature = "aes-gcm")]
    pub(crate) const AES_GCM: Self = Self {
        name: "aesgcm",
        prefix: "k8s:enc:aesgcm:v1:",
        write_warning: Some(crate::DEFAULT_WRITE_WARNING),
        cipher: |key| Ok(Box::new(crate::cipher::AesGcm::new(key)?)),
    };

    #[cfg(feature = "aes-cbc")]
    pub(crate) const AES_CBC: Self = Self {
        name: "aescbc",
        prefix: "k8s:enc:aescbc:v1:",
        write_warning: None,
        cipher: |key| Ok(Box::new(crate::cipher::AesCbc::new(key)?)),
    };

    #[cfg(feature = "secretbox")]
    pub(crate) const SECRETBOX: Self = Self {
        name: "secretbox",
        prefix: "k8s:enc:secretbox:v1:",
        write_warning: None,
        cipher: |key| Ok(Box::new(crate::cipher::Secretbox::new(key)?)),
    };
}

impl fmt::Debug for CipherKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
