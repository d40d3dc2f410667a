//! Deletion of what cannot be read.

use std::error::Error as _;

use kubestore_core::{ErrorKind, Object, Result, StorageError};
use kubestore_kv::{DeleteRequest, GetRequest, KeyValue, WriteOutcome};
use kubestore_transform::{TransformError, TransformErrorKind};
use tracing::Instrument as _;

use crate::{
    Store, error,
    operation::{Operation, operation},
    store::Inner,
    value::resource_version,
};

impl<T: Object> Store<T> {
    /// Deletes the object at `key` if it cannot be read: its value cannot be decrypted, or is not an object of this
    /// store. Returns the resource version of the deletion.
    ///
    /// Nothing asks the object's finalizers or owners, since nobody can read them; what they stand for is left behind.
    /// Only the value that was found unreadable is deleted: of one that somebody repairs meanwhile the newer state is
    /// looked at, so a repaired object is never deleted.
    ///
    /// A value counts as unreadable for *this* store, with the keys and the codec that it has. Check the encryption
    /// configuration first: under the right key the object may be in order.
    ///
    /// # Errors
    /// - [`InvalidObject`](ErrorKind::InvalidObject): the object can be read. Delete it as any other.
    /// - [`KeyNotFound`](ErrorKind::KeyNotFound): there is none.
    /// - [`Internal`](ErrorKind::Internal): a key service did not answer, which says nothing about the object.
    /// - What the backend says. After [`OutcomeUnknown`](ErrorKind::OutcomeUnknown) it may be deleted.
    ///
    /// # Cancellation
    /// If the future is dropped, the object may still have been deleted.
    pub async fn delete_if_corrupt(&self, key: &str) -> Result<u64> {
        let inner = self.inner();
        let mut trace = operation!(inner, "delete", key);
        let span = trace.span();
        let deleted = inner.delete_if_corrupt(key, &mut trace).instrument(span).await;
        deleted.map_err(|error| error.with_operation("delete of a corrupt object"))
    }
}

impl<T: Object> Inner<T> {
    async fn delete_if_corrupt(&self, key: &str, trace: &mut Operation) -> Result<u64> {
        let key = self.prefix.prepare(key)?;
        let answer = self.kv_get(GetRequest::new(key.clone())).await;
        let mut current = answer.map_err(|cause| error::from_kv(cause, &key))?.kv;
        trace.step("value read", 0);
        loop {
            let kv = current.take().ok_or_else(|| StorageError::key_not_found(&*key))?;
            let revision = kv.mod_revision;
            let cause = self.fault_of(kv, &key).await?;
            let answer = self.kv_delete(DeleteRequest::new(key.clone(), revision)).await;
            trace.step("transaction", 0);
            match answer.map_err(|cause| error::from_kv(cause, &key))? {
                WriteOutcome::Done { revision } => {
                    tracing::warn!(key, %cause, "an object that could not be read was deleted");
                    return Ok(resource_version(revision));
                }
                WriteOutcome::Conflict { current: newer, .. } => current = newer,
                other => {
                    let text = format!("unexpected answer to a deletion: {other:?}");
                    return Err(StorageError::other(text).with_key(key));
                }
            }
        }
    }

    /// What keeps a value from being read.
    ///
    /// # Errors
    /// Nothing does, or it could not be found out.
    async fn fault_of(&self, kv: KeyValue, key: &str) -> Result<StorageError> {
        let opened = match self.open(kv.value, key.as_bytes()).await {
            Ok(opened) => opened,
            Err(cause) => {
                let fault = error::from_transform(cause, key);
                return if is_unreadable(&fault) { Ok(fault) } else { Err(fault) };
            }
        };
        let Err(fault) = self.decode(opened.data, key, kv.mod_revision) else {
            let text = "the object is not corrupt; delete it as any other";
            return Err(StorageError::new(ErrorKind::InvalidObject).with_key(key).with_message(text));
        };
        Ok(fault)
    }
}

/// Whether a failure says that a stored value cannot be read, and not that nobody could be asked.
pub(crate) fn is_unreadable(error: &StorageError) -> bool {
    let cause = || error.source()?.downcast_ref::<TransformError>();
    match error.kind() {
        ErrorKind::Corrupt => true,
        ErrorKind::Internal => cause().is_some_and(|cause| {
            !matches!(cause.kind(), TransformErrorKind::Remote | TransformErrorKind::RandomSource)
        }),
        _ => false,
    }
}
