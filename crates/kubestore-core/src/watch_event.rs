//! What a watch tells.

use std::fmt;

use crate::{BoxStream, Result};

/// One change, or the knowledge that there was none.
#[non_exhaustive]
#[derive(Clone)]
pub enum WatchEvent<T> {
    /// The object was created, or begins to match the selectors.
    Added(T),
    /// It changed.
    Modified(T),
    /// It was deleted, or no longer matches. The object as it last was, with the resource version of the deletion.
    Deleted(T),
    /// Nothing at or below this resource version is still to come.
    Bookmark {
        /// Where a new watch may begin.
        resource_version: u64,
        /// All initial events have been sent.
        initial_events_end: bool,
    },
}

impl<T> WatchEvent<T> {
    /// The type as Kubernetes writes it: `ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`.
    #[must_use]
    pub fn event_type(&self) -> &'static str {
        match self {
            Self::Added(_) => "ADDED",
            Self::Modified(_) => "MODIFIED",
            Self::Deleted(_) => "DELETED",
            Self::Bookmark { .. } => "BOOKMARK",
        }
    }

    /// The object, unless it is a bookmark.
    #[must_use]
    pub fn object(&self) -> Option<&T> {
        match self {
            Self::Added(object) | Self::Modified(object) | Self::Deleted(object) => Some(object),
            Self::Bookmark { .. } => None,
        }
    }
}

/// No `T: Debug` asked for; the object is not shown.
impl<T> fmt::Debug for WatchEvent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bookmark { resource_version, initial_events_end } => f
                .debug_struct("Bookmark")
                .field("resource_version", resource_version)
                .field("initial_events_end", initial_events_end)
                .finish(),
            event => f.write_str(event.event_type()),
        }
    }
}

/// The stream of a watch. It ends after the first `Err`, whose [`status`](crate::StorageError::status) is what
/// Kubernetes sends as the ERROR event. No error that may be retried parts the events of one
/// resource version, so that a new watch may begin after the last one seen. Dropping it cancels the watch.
pub type WatchStream<T> = BoxStream<Result<WatchEvent<T>>>;
