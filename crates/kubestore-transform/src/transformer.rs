//! The contract between the store and what changes values on their way to and from storage.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use crate::{MaybeReady, TransformError, ValueContext};

/// Changes values on their way to and from storage.
///
/// # Contract
/// What [`transform_to_storage`](Self::transform_to_storage) made,
/// [`transform_from_storage`](Self::transform_from_storage) undoes under the same context, in this process and in any
/// other with the same keys. Both are called from many threads at once.
///
/// # Cancellation
/// Dropping a future that is not done leaves nothing behind but, for a remote transformer, the request that was sent.
///
/// # Errors
/// [`TransformErrorKind`](crate::TransformErrorKind) tells them apart. No error shows a secret or a value.
pub trait Transformer: fmt::Debug + Send + Sync + 'static {
    /// Opens what is stored.
    ///
    /// Local ciphers work in place if `stored` is the only handle on its buffer, and copy once if it is not.
    fn transform_from_storage<'a>(
        &'a self,
        stored: Bytes,
        context: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Opened, TransformError>>;

    /// Makes what is to be stored.
    fn transform_to_storage<'a>(
        &'a self,
        plain: Bytes,
        context: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Bytes, TransformError>>;

    /// Whether two writes of the same value never give the same bytes. Then bytes read back prove whose write they are.
    fn output_is_unique(&self) -> bool;
}

#[deny(clippy::missing_trait_methods)]
impl<T: Transformer + ?Sized> Transformer for Arc<T> {
    fn transform_from_storage<'a>(
        &'a self,
        stored: Bytes,
        context: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Opened, TransformError>> {
        (**self).transform_from_storage(stored, context)
    }

    fn transform_to_storage<'a>(
        &'a self,
        plain: Bytes,
        context: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Bytes, TransformError>> {
        (**self).transform_to_storage(plain, context)
    }

    fn output_is_unique(&self) -> bool {
        (**self).output_is_unique()
    }
}

/// A value as it is used, and whether it is stored as it would be written now.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    /// The value.
    pub data: Bytes,
    /// Whether a write is due although nothing changed, because what is stored was not made by the key and provider
    /// that write now.
    pub stale: bool,
}

impl Opened {
    /// An opened value.
    #[must_use]
    pub fn new(data: Bytes, stale: bool) -> Self {
        Self { data, stale }
    }
}

impl fmt::Debug for Opened {
    /// Shows the length only: the value may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("data", &format_args!("{} bytes", self.data.len()))
            .field("stale", &self.stale)
            .finish()
    }
}
