//! What a caller may ask of each operation: plain data, without `T`.

use std::time::Duration;

use crate::{Preconditions, Predicate};

/// A resource version as the caller sent it: "", "0", a decimal, or nonsense. Parsing it is the store's, since each
/// operation fails differently.
pub type ResourceVersionText = String;

/// How a list's resource version is meant.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResourceVersionMatch {
    /// Not said: exact for a recursive list with a limit, else not older than.
    #[default]
    Unset,
    /// The newest state, which must not be older than the resource version.
    NotOlderThan,
    /// The state at the resource version.
    Exact,
    /// Anything else, refused when the list is made.
    Unknown(String),
}

impl From<&str> for ResourceVersionMatch {
    fn from(text: &str) -> Self {
        match text {
            "" => Self::Unset,
            "NotOlderThan" => Self::NotOlderThan,
            "Exact" => Self::Exact,
            other => Self::Unknown(other.to_owned()),
        }
    }
}

impl ResourceVersionMatch {
    /// The text as Kubernetes writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unset => "",
            Self::NotOlderThan => "NotOlderThan",
            Self::Exact => "Exact",
            Self::Unknown(text) => text,
        }
    }
}

/// One object or all below a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a key is a leaf or a folder")]
pub enum Scope {
    /// The object at the key.
    #[default]
    Single,
    /// All objects below the key, which is taken to end in `/`.
    Recursive,
}

/// What a missing object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is an error or it is not")]
pub enum NotFound {
    /// An error.
    #[default]
    Fail,
    /// `None`.
    Ignore,
}

/// Options of a get.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GetOptions {
    /// What to do when there is no object.
    pub not_found: NotFound,
    /// The newest state must not be older than this: else
    /// [`TooLargeResourceVersion`](crate::ErrorKind::TooLargeResourceVersion). Not a number:
    /// [`BadRequest`](crate::ErrorKind::BadRequest).
    pub resource_version: ResourceVersionText,
}

impl GetOptions {
    /// A missing object is `None`.
    #[must_use]
    pub fn ignore_not_found(mut self) -> Self {
        self.not_found = NotFound::Ignore;
        self
    }

    /// Not older than this.
    #[must_use]
    pub fn with_resource_version(mut self, version: impl Into<String>) -> Self {
        self.resource_version = version.into();
        self
    }
}

/// Options of a create.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// Time to live in seconds; 0 is for ever. The object may live up to 5 % longer, see the lease manager.
    pub ttl_seconds: u64,
}

impl CreateOptions {
    /// With a TTL in seconds.
    #[must_use]
    pub fn with_ttl(mut self, seconds: u64) -> Self {
        self.ttl_seconds = seconds;
        self
    }
}

/// Options of a list.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListOptions {
    /// One object or all below the key.
    pub scope: Scope,
    /// Which state, together with `resource_version_match`. Not a number:
    /// [`BadRequest`](crate::ErrorKind::BadRequest); above the newest:
    /// [`TooLargeResourceVersion`](crate::ErrorKind::TooLargeResourceVersion); compacted:
    /// [`Expired`](crate::ErrorKind::Expired).
    pub resource_version: ResourceVersionText,
    /// How `resource_version` is meant.
    pub resource_version_match: ResourceVersionMatch,
    /// Which objects.
    pub predicate: Predicate,
    /// At most this many; 0 or less is no limit.
    pub limit: i64,
    /// Where an earlier list with a limit left off. Looked at by recursive lists only. Malformed:
    /// [`BadRequest`](crate::ErrorKind::BadRequest); its revision compacted: [`Expired`](crate::ErrorKind::Expired) with
    /// a new token.
    pub continue_token: String,
    /// How long the list may take, from the call on; `None` is as long as it needs. It is looked at between objects: past
    /// it the list ends with [`Timeout`](crate::ErrorKind::Timeout), naming the key it had come to.
    pub timeout: Option<Duration>,
    /// Whether the list goes on past objects that it cannot read.
    pub corrupt_objects: OnCorruptObject,
}

/// What a list does about an object that cannot be decrypted or decoded.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCorruptObject {
    /// It ends with the error of this object, as the reference's lists do.
    #[default]
    End,
    /// It goes on. In the end it fails all the same, with an error that names them all
    /// ([`StorageError::corrupt_objects`](crate::StorageError::corrupt_objects)); past
    /// [`CorruptObjects::MOST`](crate::CorruptObjects::MOST) of them it ends. A list in parts gives the objects that it can
    /// read before that.
    Report,
}

impl ListOptions {
    /// All objects below the key.
    #[must_use]
    pub fn recursive() -> Self {
        Self { scope: Scope::Recursive, ..Self::default() }
    }

    /// At most `limit` objects.
    #[must_use]
    pub fn with_limit(mut self, limit: i64) -> Self {
        self.limit = limit;
        self
    }

    /// On from where an earlier list left off.
    #[must_use]
    pub fn with_continue_token(mut self, token: impl Into<String>) -> Self {
        self.continue_token = token.into();
        self
    }

    /// Only matching objects.
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate) -> Self {
        self.predicate = predicate;
        self
    }

    /// On past objects that cannot be read, to report them all: [`OnCorruptObject::Report`].
    #[must_use]
    pub fn past_corrupt_objects(mut self) -> Self {
        self.corrupt_objects = OnCorruptObject::Report;
        self
    }

    /// For at most this long.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The state at, or not older than, a resource version.
    #[must_use]
    pub fn with_resource_version(
        mut self,
        version: impl Into<String>,
        meaning: ResourceVersionMatch,
    ) -> Self {
        self.resource_version = version.into();
        self.resource_version_match = meaning;
        self
    }
}

/// Options of a watch.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchOptions {
    /// One object or all below the key.
    pub scope: Scope,
    /// The watch tells what happened after this. "" and "0": everything that exists as ADDED, then what happens.
    pub resource_version: ResourceVersionText,
    /// Which objects.
    pub predicate: Predicate,
    /// Bookmarks from time to time.
    pub progress_notify: bool,
    /// Everything that exists as ADDED first, whatever the resource version. Needs the store option `watch_list`.
    pub send_initial_events: Option<bool>,
    /// A bookmark may mark the end of the initial events.
    pub allow_bookmarks: bool,
}

impl WatchOptions {
    /// All objects below the key.
    #[must_use]
    pub fn recursive() -> Self {
        Self { scope: Scope::Recursive, ..Self::default() }
    }

    /// What happened after this.
    #[must_use]
    pub fn with_resource_version(mut self, version: impl Into<String>) -> Self {
        self.resource_version = version.into();
        self
    }

    /// Only matching objects.
    #[must_use]
    pub fn with_predicate(mut self, predicate: Predicate) -> Self {
        self.predicate = predicate;
        self
    }

    /// Bookmarks from time to time.
    #[must_use]
    pub fn with_progress_notify(mut self, on: bool) -> Self {
        self.progress_notify = on;
        self
    }

    /// Everything that exists first, and a bookmark at its end; `false` asks for neither.
    #[must_use]
    pub fn with_initial_events(mut self, on: bool) -> Self {
        self.send_initial_events = Some(on);
        self.allow_bookmarks = on;
        self
    }
}

/// Options of a deletion.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// What the object must be.
    pub preconditions: Option<Preconditions>,
}

impl DeleteOptions {
    /// Only such an object.
    #[must_use]
    pub fn with_preconditions(mut self, preconditions: Preconditions) -> Self {
        self.preconditions = Some(preconditions);
        self
    }
}

/// Options of an update.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateOptions {
    /// Whether the update function is asked to create a missing object.
    pub not_found: NotFound,
    /// What the object must be.
    pub preconditions: Option<Preconditions>,
}

impl UpdateOptions {
    /// The update function may create the object.
    #[must_use]
    pub fn ignore_not_found(mut self) -> Self {
        self.not_found = NotFound::Ignore;
        self
    }

    /// Only such an object.
    #[must_use]
    pub fn with_preconditions(mut self, preconditions: Preconditions) -> Self {
        self.preconditions = Some(preconditions);
        self
    }
}
