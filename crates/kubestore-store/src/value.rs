//! From stored values to objects.

use bytes::Bytes;
use kubestore_core::{CodecError, Object, Result, StorageError};
use kubestore_kv::Revision;
use kubestore_metrics::Event;
use kubestore_transform::{Opened, TransformError, ValueContext};

use crate::store::Inner;

impl<T: Object> Inner<T> {
    /// Opens the stored value of `key`.
    pub(crate) async fn open(&self, stored: Bytes, key: &[u8]) -> Result<Opened, TransformError> {
        self.transformer.transform_from_storage(stored, ValueContext::new(key)).await
    }

    /// The object whose plain form is `data`, last written at `revision`.
    pub(crate) fn decode(&self, data: Bytes, key: &str, revision: Revision) -> Result<T> {
        let mut object = self.codec.decode(data).map_err(|cause| self.undecodable(cause, key))?;
        self.set_revision(&mut object, key, revision);
        Ok(object)
    }

    /// An object without a place for a resource version is returned without it, as in the reference.
    pub(crate) fn set_revision(&self, object: &mut T, key: &str, revision: Revision) {
        if let Err(cause) = self.versioner.set_resource_version(object, resource_version(revision)) {
            tracing::error!(key, %cause, "the object takes no resource version");
        }
    }

    /// Notes that the stored value of `key` cannot be decoded.
    pub(crate) fn undecodable(&self, cause: CodecError, key: &str) -> StorageError {
        self.recorder.record(Event::DecodeError { resource: self.labels() });
        tracing::debug!(key, %cause, "a stored value cannot be decoded");
        StorageError::corrupt(key, cause)
    }
}

/// Kubernetes' unsigned view of a revision.
pub(crate) fn resource_version(revision: Revision) -> u64 {
    revision.0.cast_unsigned()
}
