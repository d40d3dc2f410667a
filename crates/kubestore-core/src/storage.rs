//! The storage trait.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use crate::{
    BoxStream, CreateOptions, DeleteOptions, GetOptions, List, ListOptions, ListPart, Result, UpdateFn,
    UpdateOptions, ValidateDeletion, Versioner, WatchOptions, WatchStream,
};

/// What can be stored. Every such type is one.
pub trait Object: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> Object for T {}

/// Kubernetes' storage of objects of one type: what the API server asks of its etcd.
///
/// # Contract
/// Keys are paths such as `/pods/ns1/a`; the store puts its prefix before them. `T` is a parameter of the trait so that it
/// stays object safe: `Arc<dyn Storage<T>>` is what the layers above hold. Short forms are in
/// [`StorageExt`](crate::StorageExt).
///
/// # Consistency
/// Every write gives the object a new resource version. Reads see every write acknowledged before they began.
///
/// # Cancellation
/// Every future may be dropped at any time. A write whose future is dropped may still have been applied.
#[async_trait]
pub trait Storage<T: Object>: fmt::Debug + Send + Sync + 'static {
    /// Where objects keep their resource version.
    fn versioner(&self) -> &dyn Versioner<T>;

    /// Stores a new object and returns it with its resource version. A resource version that is not a number is dropped.
    ///
    /// # Errors
    /// [`KeyExists`](crate::ErrorKind::KeyExists); [`Other`](crate::ErrorKind::Other) when the object has a resource version
    /// already; [`Unencodable`](crate::ErrorKind::Unencodable); [`RequestTooLarge`](crate::ErrorKind::RequestTooLarge);
    /// [`OutcomeUnknown`](crate::ErrorKind::OutcomeUnknown) when the answer was lost.
    async fn create(&self, key: &str, object: T, options: CreateOptions) -> Result<T>;

    /// Reads an object. `None` only with [`NotFound::Ignore`](crate::NotFound::Ignore).
    ///
    /// # Errors
    /// [`KeyNotFound`](crate::ErrorKind::KeyNotFound), and those of [`GetOptions`]; [`Internal`](crate::ErrorKind::Internal) or
    /// [`Corrupt`](crate::ErrorKind::Corrupt) when the stored value cannot be read.
    async fn get(&self, key: &str, options: GetOptions) -> Result<Option<T>>;

    /// Lists objects in the order of their keys.
    ///
    /// # Errors
    /// Those of [`ListOptions`]; one unreadable object fails the list, naming its key.
    async fn get_list(&self, key: &str, options: ListOptions) -> Result<List<T>>;

    /// The same list in parts, in bounded memory.
    fn list_stream(&self, key: &str, options: ListOptions) -> BoxStream<Result<ListPart<T>>>;

    /// Deletes an object and returns it as it was, with the resource version of the deletion.
    ///
    /// `cached` may be the object as it was seen last; a right one saves a read. It is trusted whatever its content if its
    /// resource version is right; when a precondition or `validate` fails on it, the current object is read and, if
    /// newer, tried.
    ///
    /// # Errors
    /// [`KeyNotFound`](crate::ErrorKind::KeyNotFound), [`InvalidObject`](crate::ErrorKind::InvalidObject), the error of
    /// `validate`, [`OutcomeUnknown`](crate::ErrorKind::OutcomeUnknown).
    async fn delete(
        &self,
        key: &str,
        options: DeleteOptions,
        validate: &mut dyn ValidateDeletion<T>,
        cached: Option<T>,
    ) -> Result<T>;

    /// Changes an object by a function that is called again on every conflict, until its result was written on exactly the
    /// object it was computed from. Writes nothing when the stored bytes would not change.
    ///
    /// **An update without a TTL takes the object off its lease**: it then stays for ever. An update that changes nothing
    /// ignores a new TTL. Both as in the reference.
    ///
    /// `cached` is as in [`delete`](Self::delete); one without a resource version means "does not exist".
    ///
    /// # Errors
    /// As [`delete`](Self::delete) and [`create`](Self::create).
    async fn guaranteed_update(
        &self,
        key: &str,
        options: UpdateOptions,
        update: &mut dyn UpdateFn<T>,
        cached: Option<T>,
    ) -> Result<T>;

    /// Watches an object or everything below a key. Returns once the watch is in place: what is written after that is
    /// seen.
    ///
    /// # Errors
    /// [`Invalid`](crate::ErrorKind::Invalid) for a resource version that is not a number. Everything else, such as
    /// [`Expired`](crate::ErrorKind::Expired), comes as the stream's last item.
    async fn watch(&self, key: &str, options: WatchOptions) -> Result<WatchStream<T>>;

    /// Asks for a bookmark on every watch of this store; it comes when all of them are in step.
    ///
    /// # Errors
    /// [`Unsupported`](crate::ErrorKind::Unsupported) on an etcd that does not answer such requests reliably.
    async fn request_watch_progress(&self) -> Result<()>;

    /// How many objects are below `key`.
    ///
    /// # Errors
    /// The backend's.
    async fn count(&self, key: &str) -> Result<i64>;

    /// The newest resource version of the backend, read by a plain get.
    ///
    /// # Errors
    /// The backend's.
    async fn current_resource_version(&self) -> Result<u64>;

    /// Whether the backend answers.
    ///
    /// # Errors
    /// It does not.
    async fn readiness(&self) -> Result<()>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<T: Object, S: Storage<T> + ?Sized> Storage<T> for Arc<S> {
    fn versioner(&self) -> &dyn Versioner<T> {
        (**self).versioner()
    }

    async fn create(&self, key: &str, object: T, options: CreateOptions) -> Result<T> {
        (**self).create(key, object, options).await
    }

    async fn get(&self, key: &str, options: GetOptions) -> Result<Option<T>> {
        (**self).get(key, options).await
    }

    async fn get_list(&self, key: &str, options: ListOptions) -> Result<List<T>> {
        (**self).get_list(key, options).await
    }

    fn list_stream(&self, key: &str, options: ListOptions) -> BoxStream<Result<ListPart<T>>> {
        (**self).list_stream(key, options)
    }

    async fn delete(
        &self,
        key: &str,
        options: DeleteOptions,
        validate: &mut dyn ValidateDeletion<T>,
        cached: Option<T>,
    ) -> Result<T> {
        (**self).delete(key, options, validate, cached).await
    }

    async fn guaranteed_update(
        &self,
        key: &str,
        options: UpdateOptions,
        update: &mut dyn UpdateFn<T>,
        cached: Option<T>,
    ) -> Result<T> {
        (**self).guaranteed_update(key, options, update, cached).await
    }

    async fn watch(&self, key: &str, options: WatchOptions) -> Result<WatchStream<T>> {
        (**self).watch(key, options).await
    }

    async fn request_watch_progress(&self) -> Result<()> {
        (**self).request_watch_progress().await
    }

    async fn count(&self, key: &str) -> Result<i64> {
        (**self).count(key).await
    }

    async fn current_resource_version(&self) -> Result<u64> {
        (**self).current_resource_version().await
    }

    async fn readiness(&self) -> Result<()> {
        (**self).readiness().await
    }
}
