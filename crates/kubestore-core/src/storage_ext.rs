//! Short forms for users of a store.

use async_trait::async_trait;

use futures_util::StreamExt as _;

use crate::{
    AllowDeletion, AsyncUpdate, DeleteOptions, Feed, FeedEvent, GetOptions, Object, Predicate, Result, Scope,
    Storage, StorageError, UpdateOptions, WatchEvent, callbacks::Awaiting, feed::feed,
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

    /// Everything below `key` that matches, then every change, for ever: lists, watches, and lists again by itself when the
    /// watch fell behind and its state was compacted. This is what feeds a cache.
    fn list_then_watch(&self, key: &str, predicate: Predicate) -> Feed<T>
    where
        Self: Clone + Sized,
    {
        feed(self.clone(), key, Scope::Recursive, predicate)
    }

    /// Waits until the object at `key` (`None`: there is none) is as wanted, and returns it. Give it a timeout of your own.
    ///
    /// # Errors
    /// Those of [`Storage::get_list`] and [`Storage::watch`], but for an expired watch, which begins again.
    async fn wait_until<F>(&self, key: &str, condition: F) -> Result<Option<T>>
    where
        Self: Clone + Sized,
        F: FnMut(Option<&T>) -> bool + Send,
    {
        let mut condition = condition;
        let mut feed = feed(self.clone(), key, Scope::Single, Predicate::default());
        let mut object = None;
        let mut synced = false;
        while let Some(event) = feed.next().await {
            match event? {
                FeedEvent::Restarted => (object, synced) = (None, false),
                FeedEvent::Listed(listed) => object = Some(listed),
                FeedEvent::Synced { .. } => synced = true,
                FeedEvent::Changed(WatchEvent::Added(changed) | WatchEvent::Modified(changed)) => {
                    object = Some(changed)
                }
                FeedEvent::Changed(WatchEvent::Deleted(_)) => object = None,
                FeedEvent::Changed(_) => continue,
            }
            if synced && condition(object.as_ref()) {
                return Ok(object);
            }
        }
        Err(StorageError::other("the feed ended").with_key(key))
    }
}

impl<T: Object, S: Storage<T> + ?Sized> StorageExt<T> for S {}
