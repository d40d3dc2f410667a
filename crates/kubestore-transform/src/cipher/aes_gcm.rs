//! AES-GCM: a random nonce of 12 bytes, the encrypted value, a tag of 16 bytes.

use aes_gcm::{
    AeadInOut, Aes128Gcm, Aes256Gcm, AesGcm as Gcm, KeyInit, Nonce, Tag,
    aead::{consts::U12, inout::InOutBuf},
    aes::Aes192,
};
use bytes::{Buf, Bytes, BytesMut};

use super::{Cipher, random};
use crate::{Key, KeyError, TransformError, TransformErrorKind};

const NONCE: usize = 12;
const TAG: usize = 16;

/// The key schedules are wiped on drop and redacted in `Debug` by the cipher crate.
#[derive(Debug)]
pub(crate) enum AesGcm {
    Aes128(Box<Aes128Gcm>),
    Aes192(Box<Gcm<Aes192, U12>>),
    Aes256(Box<Aes256Gcm>),
}

impl AesGcm {
    pub(crate) fn new(key: &Key) -> Result<Self, KeyError> {
        let secret = key.secret();
        let wrong = |_| key.wrong_length("aesgcm", "16, 24 or 32");
        Ok(match secret.len() {
            16 => Self::Aes128(Box::new(Aes128Gcm::new_from_slice(secret).map_err(wrong)?)),
            24 => Self::Aes192(Box::new(Gcm::new_from_slice(secret).map_err(wrong)?)),
            _ => Self::Aes256(Box::new(Aes256Gcm::new_from_slice(secret).map_err(wrong)?)),
        })
    }

    fn encrypt(
        &self,
        nonce: &Nonce<U12>,
        authenticated: &[u8],
        text: &mut [u8],
    ) -> Result<Tag, aes_gcm::Error> {
        let text = InOutBuf::from(text);
        match self {
            Self::Aes128(cipher) => cipher.encrypt_inout_detached(nonce, authenticated, text),
            Self::Aes192(cipher) => cipher.encrypt_inout_detached(nonce, authenticated, text),
            Self::Aes256(cipher) => cipher.encrypt_inout_detached(nonce, authenticated, text),
        }
    }

    fn decrypt(
        &self,
        nonce: &Nonce<U12>,
        authenticated: &[u8],
        text: &mut [u8],
        tag: &Tag,
    ) -> Result<(), aes_gcm::Error> {
        let text = InOutBuf::from(text);
        match self {
            Self::Aes128(cipher) => cipher.decrypt_inout_detached(nonce, authenticated, text, tag),
            Self::Aes192(cipher) => cipher.decrypt_inout_detached(nonce, authenticated, text, tag),
            Self::Aes256(cipher) => cipher.decrypt_inout_detached(nonce, authenticated, text, tag),
        }
    }
}

impl Cipher for AesGcm {
    fn seal(&self, header: &[u8], plain: &[u8], authenticated: &[u8]) -> Result<Bytes, TransformError> {
        let mut nonce = Nonce::<U12>::default();
        random(&mut nonce)?;
        let mut out = Vec::with_capacity(header.len() + NONCE + plain.len() + TAG);
        out.extend_from_slice(header);
        out.extend_from_slice(&nonce);
        let text = out.len();
        out.extend_from_slice(plain);
        let tag = self
            .encrypt(&nonce, authenticated, &mut out[text..])
            .map_err(|cause| TransformError::new(TransformErrorKind::TooLarge).with_source(cause))?;
        out.extend_from_slice(&tag);
        Ok(Bytes::from(out))
    }

    fn open(&self, mut sealed: BytesMut, authenticated: &[u8]) -> Result<Bytes, TransformError> {
        let Some(end) = sealed.len().checked_sub(TAG).filter(|&end| end >= NONCE) else {
            let error = TransformError::new(TransformErrorKind::Truncated);
            // A nonce with less than a tag behind it fails in the reference only when the tag is compared.
            let nonce_is_whole = sealed.len() >= NONCE;
            return Err(if nonce_is_whole {
                error.with_status_message(AUTHENTICATION_FAILED)
            } else {
                error
            });
        };
        let (nonce, rest) = sealed.split_at_mut(NONCE);
        let (text, tag) = rest.split_at_mut(end - NONCE);
        let failed = || TransformError::new(TransformErrorKind::AuthenticationFailed);
        let nonce = Nonce::<U12>::try_from(&*nonce).map_err(|_| failed())?;
        let tag = Tag::try_from(&*tag).map_err(|_| failed())?;
        self.decrypt(&nonce, authenticated, text, &tag).map_err(|_| failed())?;
        sealed.truncate(end);
        sealed.advance(NONCE);
        Ok(sealed.freeze())
    }
}

const AUTHENTICATION_FAILED: &str = "cipher: message authentication failed";

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
