//! XSalsa20-Poly1305 as NaCl's secretbox has it: a random nonce of 24 bytes, a tag of 16, the encrypted value.

use std::fmt;

use bytes::{Buf, Bytes, BytesMut};
use crypto_secretbox::{AeadInPlace, KeyInit, Nonce, Tag, XSalsa20Poly1305};

use super::{Cipher, random};
use crate::{Key, KeyError, TransformError, TransformErrorKind};

const NONCE: usize = 24;
const TAG: usize = 16;

/// The key is wiped on drop by the cipher crate.
pub(crate) struct Secretbox(XSalsa20Poly1305);

impl Secretbox {
    pub(crate) fn new(key: &Key) -> Result<Self, KeyError> {
        let cipher = XSalsa20Poly1305::new_from_slice(key.secret());
        Ok(Self(cipher.map_err(|_| key.wrong_length("secretbox", "32"))?))
    }
}

impl Cipher for Secretbox {
    fn seal(&self, header: &[u8], plain: &[u8], _authenticated: &[u8]) -> Result<Bytes, TransformError> {
        let mut nonce = Nonce::default();
        random(&mut nonce)?;
        let mut out = Vec::with_capacity(header.len() + NONCE + TAG + plain.len());
        out.extend_from_slice(header);
        out.extend_from_slice(&nonce);
        let tag_at = out.len();
        out.extend_from_slice(&[0; TAG]);
        out.extend_from_slice(plain);
        let (tag, text) = out[tag_at..].split_at_mut(TAG);
        let made = self
            .0
            .encrypt_in_place_detached(&nonce, b"", text)
            .map_err(|_| TransformError::new(TransformErrorKind::TooLarge))?;
        tag.copy_from_slice(&made);
        Ok(Bytes::from(out))
    }

    fn open(&self, mut sealed: BytesMut, _authenticated: &[u8]) -> Result<Bytes, TransformError> {
        if sealed.len() < NONCE + TAG {
            return Err(TransformError::new(TransformErrorKind::Truncated));
        }
        let (nonce, rest) = sealed.split_at_mut(NONCE);
        let (tag, text) = rest.split_at_mut(TAG);
        self.0
            .decrypt_in_place_detached(Nonce::from_slice(nonce), b"", text, Tag::from_slice(tag))
            .map_err(|_| TransformError::new(TransformErrorKind::AuthenticationFailed))?;
        sealed.advance(NONCE + TAG);
        Ok(sealed.freeze())
    }
}

impl fmt::Debug for Secretbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secretbox([redacted])")
    }
}
