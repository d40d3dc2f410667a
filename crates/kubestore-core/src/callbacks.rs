//! Functions that a caller gives to an update or a deletion.

use std::{fmt, future::Future, pin::Pin};

use async_trait::async_trait;

use crate::{Object, Result};

/// What the store knows of the object an update function is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseMeta {
    /// Kubernetes' field of this name, which its etcd store never fills: 0.
    pub ttl: i64,
    /// The object's resource version; 0 for one that does not exist.
    pub resource_version: u64,
}

impl ResponseMeta {
    /// An object last written at `resource_version`.
    #[must_use]
    pub fn new(resource_version: u64) -> Self {
        Self { ttl: 0, resource_version }
    }
}

/// What an update function wants written.
#[non_exhaustive]
pub struct Updated<T> {
    /// The object.
    pub object: T,
    /// Its time to live in seconds. `None` and `Some(0)` alike take the object off its lease: it then stays for ever.
    /// A new TTL on an object that does not change otherwise is ignored. Both as in the reference.
    pub ttl_seconds: Option<u64>,
}

impl<T> Updated<T> {
    /// Without a TTL.
    #[must_use]
    pub fn new(object: T) -> Self {
        Self { object, ttl_seconds: None }
    }

    /// With a TTL in seconds.
    #[must_use]
    pub fn with_ttl(mut self, seconds: u64) -> Self {
        self.ttl_seconds = Some(seconds);
        self
    }
}

impl<T> fmt::Debug for Updated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Updated").field("ttl_seconds", &self.ttl_seconds).finish_non_exhaustive()
    }
}

/// Decides what an object becomes. Closures `FnMut(Option<T>, ResponseMeta) -> Result<Updated<T>>` are such functions;
/// [`StorageExt::update_with`](crate::StorageExt::update_with) takes async ones.
#[async_trait]
pub trait UpdateFn<T: Object>: Send {
    /// Called once, and again with the newer object after every conflict. `None`: the key does not exist and
    /// [`NotFound::Ignore`](crate::NotFound::Ignore) was asked for. The object is given away: the store keeps its bytes.
    ///
    /// # Errors
    /// Any error ends the update and comes back unchanged, unless it was decided on a cached object that turns out to be
    /// old.
    async fn update(&mut self, current: Option<T>, meta: ResponseMeta) -> Result<Updated<T>>;
}

#[async_trait]
impl<T: Object, F> UpdateFn<T> for F
where
    F: FnMut(Option<T>, ResponseMeta) -> Result<Updated<T>> + Send,
{
    async fn update(&mut self, current: Option<T>, meta: ResponseMeta) -> Result<Updated<T>> {
        self(current, meta)
    }
}

/// Decides whether an object may be deleted.
#[async_trait]
pub trait ValidateDeletion<T: Object>: Send {
    /// Called once, and again with the newer object after every conflict.
    ///
    /// # Errors
    /// Any error ends the deletion, as in [`UpdateFn::update`].
    async fn validate(&mut self, current: &T) -> Result<()>;
}

/// Allows every deletion.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct AllowDeletion;

#[async_trait]
impl<T: Object> ValidateDeletion<T> for AllowDeletion {
    async fn validate(&mut self, _current: &T) -> Result<()> {
        Ok(())
    }
}

/// An update function that awaits: `|object, meta| async move { … }`.
pub trait AsyncUpdate<T: Object>: Send {
    /// As [`UpdateFn::update`].
    fn call<'a>(
        &'a mut self,
        current: Option<T>,
        meta: ResponseMeta,
    ) -> Pin<Box<dyn Future<Output = Result<Updated<T>>> + Send + 'a>>;
}

impl<T: Object, F, Fut> AsyncUpdate<T> for F
where
    F: FnMut(Option<T>, ResponseMeta) -> Fut + Send,
    Fut: Future<Output = Result<Updated<T>>> + Send + 'static,
{
    fn call<'a>(
        &'a mut self,
        current: Option<T>,
        meta: ResponseMeta,
    ) -> Pin<Box<dyn Future<Output = Result<Updated<T>>> + Send + 'a>> {
        Box::pin(self(current, meta))
    }
}

/// An [`AsyncUpdate`] where an [`UpdateFn`] is wanted.
pub(crate) struct Awaiting<'f, F>(pub(crate) &'f mut F);

#[async_trait]
impl<T: Object, F: AsyncUpdate<T>> UpdateFn<T> for Awaiting<'_, F> {
    async fn update(&mut self, current: Option<T>, meta: ResponseMeta) -> Result<Updated<T>> {
        self.0.call(current, meta).await
    }
}
