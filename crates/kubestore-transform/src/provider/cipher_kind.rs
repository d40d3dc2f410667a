//! The ciphers that providers with keys may use.

use crate::{Key, KeyError, cipher::Cipher};

/// A cipher, by its name in the envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CipherKind {
    #[cfg(feature = "aes-gcm")]
    AesGcm,
    #[cfg(feature = "aes-cbc")]
    AesCbc,
    #[cfg(feature = "secretbox")]
    Secretbox,
}

impl CipherKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "aes-gcm")]
            Self::AesGcm => "aesgcm",
            #[cfg(feature = "aes-cbc")]
            Self::AesCbc => "aescbc",
            #[cfg(feature = "secretbox")]
            Self::Secretbox => "secretbox",
        }
    }

    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            #[cfg(feature = "aes-gcm")]
            Self::AesGcm => "k8s:enc:aesgcm:v1:",
            #[cfg(feature = "aes-cbc")]
            Self::AesCbc => "k8s:enc:aescbc:v1:",
            #[cfg(feature = "secretbox")]
            Self::Secretbox => "k8s:enc:secretbox:v1:",
        }
    }

    /// After how many writes a key is warned about: short nonces only.
    pub(crate) const fn write_warning(self) -> Option<u64> {
        match self {
            #[cfg(feature = "aes-gcm")]
            Self::AesGcm => Some(crate::DEFAULT_WRITE_WARNING),
            #[cfg(feature = "aes-cbc")]
            Self::AesCbc => None,
            #[cfg(feature = "secretbox")]
            Self::Secretbox => None,
        }
    }

    pub(crate) fn cipher(self, key: &Key) -> Result<Box<dyn Cipher>, KeyError> {
        Ok(match self {
            #[cfg(feature = "aes-gcm")]
            Self::AesGcm => Box::new(crate::cipher::AesGcm::new(key)?),
            #[cfg(feature = "aes-cbc")]
            Self::AesCbc => Box::new(crate::cipher::AesCbc::new(key)?),
            #[cfg(feature = "secretbox")]
            Self::Secretbox => Box::new(crate::cipher::Secretbox::new(key)?),
        })
    }
}
