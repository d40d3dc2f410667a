//! AES-GCM: a random nonce of 12 bytes, the encrypted value, a tag of 16 bytes. Whose code computes it is the engine's
//! affair.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
// The tests compare the engines.
#[cfg(any(test, not(feature = "aws-lc-rs")))]
mod rust_crypto;
#[cfg(test)]
mod tests;

use std::fmt;

use bytes::{Buf, Bytes, BytesMut};

#[cfg(feature = "aws-lc-rs")]
use self::aws_lc::AwsLc as Chosen;
#[cfg(not(feature = "aws-lc-rs"))]
use self::rust_crypto::RustCrypto as Chosen;
use super::{Cipher, random};
use crate::{BoxError, Key, KeyError, TransformError, TransformErrorKind};

const NONCE: usize = 12;
const TAG: usize = 16;

/// AES-GCM on the engine that the features choose.
pub(crate) type AesGcm = On<Chosen>;

/// AES-GCM on one engine.
#[derive(Debug)]
pub(crate) struct On<E>(E);

/// Computes AES-GCM in place. All engines make the same bytes and take the same keys.
pub(crate) trait Engine: fmt::Debug + Send + Sync + Sized {
    /// Fails if the secret has not 16, 24 or 32 bytes.
    fn new(key: &Key) -> Result<Self, KeyError>;

    /// Encrypts `text` and gives the tag. Fails if `text` is longer than AES-GCM allows, nearly 64 GiB.
    fn seal(&self, nonce: [u8; NONCE], authenticated: &[u8], text: &mut [u8]) -> Result<[u8; TAG], BoxError>;

    /// Decrypts `text`; `None` if the tag is not right, and then `text` is of no use.
    fn open(&self, nonce: [u8; NONCE], authenticated: &[u8], text: &mut [u8], tag: [u8; TAG]) -> Option<()>;
}

impl<E: Engine> On<E> {
    pub(crate) fn new(key: &Key) -> Result<Self, KeyError> {
        E::new(key).map(Self)
    }
}

impl<E: Engine> Cipher for On<E> {
    fn seal(&self, header: &[u8], plain: &[u8], authenticated: &[u8]) -> Result<Bytes, TransformError> {
        let mut nonce = [0; NONCE];
        random(&mut nonce)?;
        let mut out = Vec::with_capacity(header.len() + NONCE + plain.len() + TAG);
        out.extend_from_slice(header);
        out.extend_from_slice(&nonce);
        let text = out.len();
        out.extend_from_slice(plain);
        let tag = self
            .0
            .seal(nonce, authenticated, &mut out[text..])
            .map_err(|cause| TransformError::new(TransformErrorKind::TooLarge).with_source(cause))?;
        out.extend_from_slice(&tag);
        Ok(Bytes::from(out))
    }

    fn open(&self, mut sealed: BytesMut, authenticated: &[u8]) -> Result<Bytes, TransformError> {
        let truncated = || TransformError::new(TransformErrorKind::Truncated);
        let (&mut nonce, rest) = sealed.split_first_chunk_mut::<NONCE>().ok_or_else(truncated)?;
        // A nonce with less than a tag behind it fails in the reference only when the tag is compared.
        let (text, &mut tag) = rest
            .split_last_chunk_mut::<TAG>()
            .ok_or_else(|| truncated().with_status_message(AUTHENTICATION_FAILED))?;
        self.0
            .open(nonce, authenticated, text, tag)
            .ok_or_else(|| TransformError::new(TransformErrorKind::AuthenticationFailed))?;
        sealed.truncate(sealed.len() - TAG);
        sealed.advance(NONCE);
        Ok(sealed.freeze())
    }
}

/// What is wrong with a key, for every engine.
fn wrong_length(key: &Key) -> KeyError {
    key.wrong_length("aesgcm", "16, 24 or 32")
}

const AUTHENTICATION_FAILED: &str = "cipher: message authentication failed";
