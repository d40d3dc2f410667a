//! Short forms for users of a store.

use async_trait::async_trait;

use crate::{
    AllowDeletion, AsyncUpdate, DeleteOptions, GetOptions, Object, Result, Storage, StorageError,
    UpdateOptions, callbacks::Awaiting,
};

/// What users of a [`Storage`] call. Implemented for every store; not to be implemented by hand.
#[async_trait]
pub trait StorageExt<T: Object>: Storage<T> {
    /// The object at `key`.
    ///
    /// # Errors
    /// [`KeyNotFound`](crate::ErrorKind::KeyNotFound) when there is none, and those of [`Storage::get`].
    async fn read(&self, key: &str) -> Result<T> {
        let found = self.get(key, GetOptions::default()).await?;
        found.ok_or_else(|| StorageError::key_not_found(key).with_operation("get"))
    }

    /// The object at `key`, if there is one.
    ///
    /// # Errors
    /// Those of [`Storage::get`].
    async fn find(&self, key: &str) -> Result<Option<T>> {
        self.get(key, GetOptions::default().ignore_not_found()).await
    }

    /// Changes the object at `key` by an async function, which is called again on every conflict.
    ///
    /// # Errors
    /// Those of [`Storage::guaranteed_update`].
    async fn update_with<F>(&self, key: &str, update: F) -> Result<T>
    where
        F: AsyncUpdate<T>,
    {
        let mut update = update;
        self.guaranteed_update(key, UpdateOptions::default(), &mut Awaiting(&mut update), None).await
    }

    /// Deletes the object at `key` and returns it.
    ///
    /// # Errors
    /// Those of [`Storage::delete`].
    async fn remove(&self, key: &str) -> Result<T> {
        self.delete(key, DeleteOptions::default(), &mut AllowDeletion, None).await
    }
}

impl<T: Object, S: Storage<T> + ?Sized> StorageExt<T> for S {}
