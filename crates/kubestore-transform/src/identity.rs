//! No encryption.

use bytes::Bytes;

use crate::{
    ENVELOPE_PREFIX, MaybeReady, Opened, TransformError, TransformErrorKind, Transformer, ValueContext,
};

/// Stores values as they are, and refuses to read encrypted ones: what a Kubernetes API server uses for a resource
/// without encryption.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct Identity;

impl Identity {
    pub(crate) fn open(stored: Bytes) -> Result<Opened, TransformError> {
        if stored.starts_with(ENVELOPE_PREFIX) {
            return Err(TransformError::new(TransformErrorKind::EncryptedButIdentity).found_in(&stored));
        }
        Ok(Opened::new(stored, false))
    }
}

impl Transformer for Identity {
    fn transform_from_storage<'a>(
        &'a self,
        stored: Bytes,
        _context: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Opened, TransformError>> {
        MaybeReady::ready(Self::open(stored))
    }

    fn transform_to_storage<'a>(
        &'a self,
        plain: Bytes,
        _context: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Bytes, TransformError>> {
        MaybeReady::ready(Ok(plain))
    }

    fn output_is_unique(&self) -> bool {
        false
    }
}
