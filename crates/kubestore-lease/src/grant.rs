//! A grant that several callers wait for.

use std::{error::Error, fmt, sync::Arc};

use futures_util::future::{BoxFuture, Shared};
use kubestore_kv::{KvError, LeaseId};

/// Whoever is polled drives it, so that a caller who is dropped takes nothing from the others; when the last one is
/// dropped, so is the request.
pub(crate) type SharedGrant = Shared<BoxFuture<'static, Result<LeaseId, Arc<KvError>>>>;

/// The error as its own, for each of those who waited.
pub(crate) fn own(error: Arc<KvError>) -> KvError {
    Arc::try_unwrap(error).unwrap_or_else(|shared| {
        let mut copy = KvError::new(shared.kind(), shared.operation(), shared.message());
        if let Some(key) = shared.key() {
            copy = copy.with_key(key.to_vec());
        }
        if let Some(revision) = shared.revision() {
            copy = copy.with_revision(revision);
        }
        if shared.source().is_some() { copy.with_source(SharedCause(shared)) } else { copy }
    })
}

/// The cause of an error that several hold.
struct SharedCause(Arc<KvError>);

impl SharedCause {
    fn cause(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl fmt::Display for SharedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause().map_or(Ok(()), |cause| fmt::Display::fmt(cause, f))
    }
}

impl fmt::Debug for SharedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause().map_or(Ok(()), |cause| fmt::Debug::fmt(cause, f))
    }
}

impl Error for SharedCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause().and_then(Error::source)
    }
}
