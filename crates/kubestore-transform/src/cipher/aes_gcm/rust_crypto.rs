//! The crate `aes-gcm`: Rust alone.

use aes_gcm::{
    AeadInOut, Aes128Gcm, Aes256Gcm, AesGcm as Gcm, KeyInit,
    aead::{consts::U12, inout::InOutBuf},
    aes::Aes192,
};

use super::{Engine, NONCE, TAG, wrong_length};
use crate::{BoxError, Key, KeyError};

/// The key schedules are wiped on drop and redacted in `Debug` by the cipher crate.
#[derive(Debug)]
pub(crate) enum RustCrypto {
    Aes128(Box<Aes128Gcm>),
    Aes192(Box<Gcm<Aes192, U12>>),
    Aes256(Box<Aes256Gcm>),
}

impl Engine for RustCrypto {
    fn new(key: &Key) -> Result<Self, KeyError> {
        let secret = key.secret();
        let wrong = |_| wrong_length(key);
        Ok(match secret.len() {
            16 => Self::Aes128(Box::new(Aes128Gcm::new_from_slice(secret).map_err(wrong)?)),
            24 => Self::Aes192(Box::new(Gcm::new_from_slice(secret).map_err(wrong)?)),
            _ => Self::Aes256(Box::new(Aes256Gcm::new_from_slice(secret).map_err(wrong)?)),
        })
    }

    fn seal(&self, nonce: [u8; NONCE], authenticated: &[u8], text: &mut [u8]) -> Result<[u8; TAG], BoxError> {
        let (nonce, text) = (nonce.into(), InOutBuf::from(text));
        let tag = match self {
            Self::Aes128(cipher) => cipher.encrypt_inout_detached(&nonce, authenticated, text),
            Self::Aes192(cipher) => cipher.encrypt_inout_detached(&nonce, authenticated, text),
            Self::Aes256(cipher) => cipher.encrypt_inout_detached(&nonce, authenticated, text),
        };
        Ok(tag?.into())
    }

    fn open(&self, nonce: [u8; NONCE], authenticated: &[u8], text: &mut [u8], tag: [u8; TAG]) -> Option<()> {
        let (nonce, tag, text) = (nonce.into(), tag.into(), InOutBuf::from(text));
        match self {
            Self::Aes128(cipher) => cipher.decrypt_inout_detached(&nonce, authenticated, text, &tag),
            Self::Aes192(cipher) => cipher.decrypt_inout_detached(&nonce, authenticated, text, &tag),
            Self::Aes256(cipher) => cipher.decrypt_inout_detached(&nonce, authenticated, text, &tag),
        }
        .ok()
    }
}

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::{Aes128Gcm, Aes192, Aes256Gcm, Gcm, U12};

    /// Holds only as long as the cipher crate is built with the feature that wipes keys.
    #[test]
    fn key_schedules_are_wiped() {
        fn wiped<T: ZeroizeOnDrop>() {}
        wiped::<Aes128Gcm>();
        wiped::<Gcm<Aes192, U12>>();
        wiped::<Aes256Gcm>();
    }
}
