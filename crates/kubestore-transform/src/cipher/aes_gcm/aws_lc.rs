//! The crate `aws-lc-rs`: C and assembly.

use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use super::{Engine, NONCE, TAG, wrong_length};
use crate::{BoxError, Key, KeyError};

/// The key schedule lies in one allocation of the library, which wipes whatever it frees; its `Debug` names the
/// algorithm only.
#[derive(Debug)]
pub(crate) struct AwsLc(LessSafeKey);

impl Engine for AwsLc {
    fn new(key: &Key) -> Result<Self, KeyError> {
        let secret = key.secret();
        let algorithm = match secret.len() {
            16 => &AES_128_GCM,
            24 => &AES_192_GCM,
            _ => &AES_256_GCM,
        };
        let key = UnboundKey::new(algorithm, secret).map_err(|_| wrong_length(key))?;
        Ok(Self(LessSafeKey::new(key)))
    }

    fn seal(&self, nonce: [u8; NONCE], authenticated: &[u8], text: &mut [u8]) -> Result<[u8; TAG], BoxError> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(authenticated), text)?;
        Ok(tag.as_ref().try_into()?)
    }

    fn open(&self, nonce: [u8; NONCE], authenticated: &[u8], text: &mut [u8], tag: [u8; TAG]) -> Option<()> {
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.0.open_in_place_separate_tag(nonce, Aad::from(authenticated), &tag, text).ok()?;
        Some(())
    }
}
