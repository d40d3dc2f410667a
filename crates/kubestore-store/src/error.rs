//! From the backend's and the transformer's errors to the store's.

use kubestore_core::{ErrorKind, StorageError, quote};
use kubestore_kv::{KvError, KvErrorKind, Revision};
use kubestore_transform::TransformError;

/// An operation of the backend on `key` failed.
pub(crate) fn from_kv(error: KvError, key: &str) -> StorageError {
    let kind = match error.kind() {
        KvErrorKind::Compacted => return StorageError::list_expired().with_key(key).with_source(error),
        KvErrorKind::DeadlineExceeded => ErrorKind::Timeout,
        KvErrorKind::NoLeader | KvErrorKind::Unavailable => ErrorKind::Unreachable,
        KvErrorKind::NoSpace => ErrorKind::NoSpace,
        KvErrorKind::OutcomeUnknown => ErrorKind::OutcomeUnknown,
        KvErrorKind::PermissionDenied | KvErrorKind::Unauthenticated => ErrorKind::PermissionDenied,
        KvErrorKind::TooLarge => ErrorKind::RequestTooLarge,
        KvErrorKind::Unsupported => ErrorKind::Unsupported,
        _ => ErrorKind::Other,
    };
    let text = error.kind().etcd_text().unwrap_or(error.message()).to_owned();
    StorageError::new(kind).with_key(key).with_status_message(text).with_source(error)
}

/// A lease for `key` was not granted. Nothing was written: a lease whose grant got lost ends by itself.
pub(crate) fn from_lease(error: KvError, key: &str) -> StorageError {
    match error.kind() {
        KvErrorKind::InvalidArgument => {
            from_kv(error, key).with_status_message("etcdserver: too large lease TTL")
        }
        KvErrorKind::OutcomeUnknown => {
            StorageError::new(ErrorKind::Unreachable).with_key(key).with_source(error)
        }
        _ => from_kv(error, key),
    }
}

/// A read at `requested` failed because it has not happened yet.
pub(crate) fn future_revision(error: KvError, requested: Revision, current: Revision) -> StorageError {
    let number = |revision: Revision| u64::try_from(revision.0).unwrap_or(0);
    StorageError::too_large_resource_version(number(requested), number(current), 0).with_source(error)
}

/// The value of `key` cannot be opened or sealed.
pub(crate) fn from_transform(error: TransformError, key: &str) -> StorageError {
    StorageError::internal(error.status_message()).with_key(key).with_source(error)
}

/// The value of `key`, one of a list, cannot be opened.
pub(crate) fn from_list_transform(error: TransformError, key: &str) -> StorageError {
    let text = format!("unable to transform key {}: {}", quote(key), error.status_message());
    StorageError::internal(text).with_key(key).with_source(error)
}
