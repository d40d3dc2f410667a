//! List, then watch, and list again when the watch falls behind: what feeds a cache.

use std::fmt;

use futures_util::{StreamExt as _, stream};

use crate::{
    BoxStream, ListOptions, ListPart, Object, Predicate, Result, Scope, Storage, StorageError, WatchEvent,
    WatchOptions, WatchStream,
};

/// What a feed tells.
#[non_exhaustive]
#[derive(Clone)]
pub enum FeedEvent<T> {
    /// A list begins. What follows until [`Synced`](Self::Synced) replaces all that was known.
    Restarted,
    /// One object of the list.
    Listed(T),
    /// The list is complete.
    Synced {
        /// The resource version of the whole list.
        resource_version: u64,
    },
    /// A change after the list.
    Changed(WatchEvent<T>),
}

/// No `T: Debug` asked for; the object is not shown.
impl<T> fmt::Debug for FeedEvent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restarted => f.write_str("Restarted"),
            Self::Listed(_) => f.write_str("Listed"),
            Self::Synced { resource_version } => {
                f.debug_struct("Synced").field("resource_version", resource_version).finish()
            }
            Self::Changed(event) => f.debug_tuple("Changed").field(event).finish(),
        }
    }
}

/// A stream of [`FeedEvent`]s without end. An `Err` does not end it: polled again, it goes on where it can. Wait before
/// you do when [`is_retryable`](StorageError::is_retryable), or stop.
pub type Feed<T> = BoxStream<Result<FeedEvent<T>>>;

/// Objects listed at a time.
const PAGE: i64 = 500;

pub(crate) fn feed<T, S>(storage: S, key: &str, scope: Scope, predicate: Predicate) -> Feed<T>
where
    T: Object,
    S: Storage<T> + Clone,
{
    let feeder = Feeder { storage, key: key.to_owned(), scope, predicate, phase: Phase::Idle };
    stream::unfold(feeder, |mut feeder| async move {
        let event = feeder.next().await;
        Some((event, feeder))
    })
    .boxed()
}

struct Feeder<T: Object, S> {
    storage: S,
    key: String,
    scope: Scope,
    predicate: Predicate,
    phase: Phase<T>,
}

enum Phase<T> {
    /// A list is due.
    Idle,
    /// Parts of one page, and the objects of the part that is being handed out.
    Listing { parts: BoxStream<Result<ListPart<T>>>, items: std::vec::IntoIter<T> },
    /// A watch is due, after this.
    Listed(u64),
    /// Everything up to `after` was told.
    Watching { events: WatchStream<T>, after: u64 },
}

impl<T: Object, S: Storage<T>> Feeder<T, S> {
    async fn next(&mut self) -> Result<FeedEvent<T>> {
        loop {
            match &mut self.phase {
                Phase::Idle => {
                    self.list(String::new());
                    return Ok(FeedEvent::Restarted);
                }
                Phase::Listing { parts, items } => {
                    if let Some(item) = items.next() {
                        return Ok(FeedEvent::Listed(item));
                    }
                    match parts.next().await {
                        Some(Ok(ListPart::Items(page))) => *items = page.into_iter(),
                        Some(Ok(ListPart::End { continue_token: Some(token), .. })) => self.list(token),
                        Some(Ok(ListPart::End { resource_version, .. })) => {
                            self.phase = Phase::Listed(resource_version);
                            return Ok(FeedEvent::Synced { resource_version });
                        }
                        Some(Err(error)) => return self.restart(error),
                        None => {
                            return self.restart(StorageError::other("a list ended before it was complete"));
                        }
                    }
                }
                Phase::Listed(after) => {
                    let after = *after;
                    match self.storage.watch(&self.key, self.watch_options(after)).await {
                        Ok(events) => self.phase = Phase::Watching { events, after },
                        Err(error) if error.is_retryable() => return Err(error),
                        Err(error) => return self.restart(error),
                    }
                }
                Phase::Watching { events, after } => match events.next().await {
                    Some(Ok(event)) => {
                        *after = version_of(&self.storage, &event).unwrap_or(*after);
                        return Ok(FeedEvent::Changed(event));
                    }
                    // The only way on is a new list; the caller sees it begin.
                    Some(Err(error)) if error.is_expired() => self.phase = Phase::Idle,
                    Some(Err(error)) if error.is_retryable() => {
                        self.phase = Phase::Listed(*after);
                        return Err(error);
                    }
                    Some(Err(error)) => return self.restart(error),
                    None => self.phase = Phase::Listed(*after),
                },
            }
        }
    }

    fn list(&mut self, token: String) {
        let mut options = ListOptions::default().with_limit(PAGE).with_continue_token(token);
        options.scope = self.scope;
        options.predicate = self.predicate.clone();
        let parts = self.storage.list_stream(&self.key, options);
        self.phase = Phase::Listing { parts, items: Vec::new().into_iter() };
    }

    /// A list at a compacted state begins anew without a word; any other failure is told first.
    fn restart(&mut self, error: StorageError) -> Result<FeedEvent<T>> {
        self.phase = Phase::Idle;
        if error.is_expired() {
            self.list(String::new());
            return Ok(FeedEvent::Restarted);
        }
        Err(error)
    }

    fn watch_options(&self, after: u64) -> WatchOptions {
        let mut options = WatchOptions::default().with_resource_version(after.to_string());
        options.scope = self.scope;
        options.predicate = self.predicate.clone();
        options.allow_bookmarks = true;
        options.progress_notify = true;
        options
    }
}

fn version_of<T: Object>(storage: &impl Storage<T>, event: &WatchEvent<T>) -> Option<u64> {
    match event {
        WatchEvent::Bookmark { resource_version, .. } => Some(*resource_version),
        event => event.object().and_then(|object| storage.versioner().resource_version(object).ok()),
    }
}
