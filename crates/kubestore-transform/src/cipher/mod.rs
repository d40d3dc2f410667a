//! Ciphers that run in this process, each under one key and without a header.

#[cfg(feature = "aes-cbc")]
mod aes_cbc;
#[cfg(feature = "aes-gcm")]
mod aes_gcm;
#[cfg(feature = "secretbox")]
mod secretbox;

use std::fmt;

use bytes::{Bytes, BytesMut};

#[cfg(feature = "aes-cbc")]
pub(crate) use self::aes_cbc::AesCbc;
#[cfg(feature = "aes-gcm")]
pub(crate) use self::aes_gcm::AesGcm;
#[cfg(feature = "secretbox")]
pub(crate) use self::secretbox::Secretbox;
use crate::TransformError;

/// Seals and opens values under one key.
pub(crate) trait Cipher: fmt::Debug + Send + Sync {
    /// `header`, then the sealed value, in one allocation.
    fn seal(&self, header: &[u8], plain: &[u8], authenticated: &[u8]) -> Result<Bytes, TransformError>;

    /// Opens what followed the header. What is in `sealed` after an error is of no use.
    fn open(&self, sealed: BytesMut, authenticated: &[u8]) -> Result<Bytes, TransformError>;
}

/// Fills `bytes` from the operating system's generator.
#[cfg(any(feature = "aes-gcm", feature = "aes-cbc", feature = "secretbox"))]
fn random(bytes: &mut [u8]) -> Result<(), TransformError> {
    getrandom::fill(bytes)
        .map_err(|cause| TransformError::new(crate::TransformErrorKind::RandomSource).with_source(cause))
}
