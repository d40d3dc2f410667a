//! Reads: one key, a range, a range in parts.

use std::num::NonZeroU64;

use bytes::Bytes;

use crate::{KeyValue, Revision};

/// What to read of one key.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct GetRequest {
    /// The whole key.
    pub key: Bytes,
    /// The state to read; `None`, and as in etcd 0 and less, is the newest. Below the compacted revision the answer is
    /// [`Compacted`](crate::KvErrorKind::Compacted), above the head
    /// [`FutureRevision`](crate::KvErrorKind::FutureRevision).
    pub revision: Option<Revision>,
}

impl GetRequest {
    /// The newest state of `key`.
    #[must_use]
    pub fn new(key: impl Into<Bytes>) -> Self {
        Self { key: key.into(), revision: None }
    }

    /// The state at `revision` instead of the newest.
    #[must_use]
    pub fn at(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }
}

/// One key, or the knowledge that it does not exist.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct GetResponse {
    /// The key as it stood at the revision asked for.
    pub kv: Option<KeyValue>,
    /// The backend's newest revision when it answered.
    pub head: Revision,
}

impl GetResponse {
    /// An answer given at `head`.
    #[must_use]
    pub fn new(kv: Option<KeyValue>, head: Revision) -> Self {
        Self { kv, head }
    }
}

/// What to read of a range of keys. Answers are in ascending order of the keys' bytes.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Every key that begins with it. It decides where the range ends even when `start` is given.
    pub prefix: Bytes,
    /// First key to return, inclusive; `None`, and a key before the prefix, is the prefix itself.
    pub start: Option<Bytes>,
    /// The state to read; `None` is the newest. Errors as in [`GetRequest::revision`].
    pub revision: Option<Revision>,
    /// At most this many; `None` is all.
    pub limit: Option<NonZeroU64>,
    /// Leave the values empty. Leases may be left out too, as etcd does from 3.7 on.
    pub keys_only: bool,
}

impl ListRequest {
    /// Everything under `prefix` in the newest state.
    #[must_use]
    pub fn new(prefix: impl Into<Bytes>) -> Self {
        Self { prefix: prefix.into(), start: None, revision: None, limit: None, keys_only: false }
    }

    /// Begin at `start` instead of the prefix.
    #[must_use]
    pub fn from_key(mut self, start: impl Into<Bytes>) -> Self {
        self.start = Some(start.into());
        self
    }

    /// The state at `revision` instead of the newest.
    #[must_use]
    pub fn at(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// At most `limit` keys; 0 is all.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = NonZeroU64::new(limit);
        self
    }

    /// Keys without their values.
    #[must_use]
    pub fn keys_only(mut self) -> Self {
        self.keys_only = true;
        self
    }

    /// The first key of the range.
    #[must_use]
    pub fn first_key(&self) -> &Bytes {
        self.start.as_ref().unwrap_or(&self.prefix).max(&self.prefix)
    }
}

/// A range as it stood at one revision.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ListResponse {
    /// In ascending order of keys.
    pub kvs: Vec<KeyValue>,
    /// The backend's newest revision when it answered, also when an older state was asked for.
    pub head: Revision,
    /// The limit cut the range short.
    pub more: bool,
    /// Keys in the whole range from `start`, whatever the limit; `None` where the server does not say
    /// (kine without a limit).
    pub count: Option<i64>,
}

impl ListResponse {
    /// An answer given at `head`.
    #[must_use]
    pub fn new(kvs: Vec<KeyValue>, head: Revision, more: bool, count: Option<i64>) -> Self {
        Self { kvs, head, more, count }
    }
}

/// One part of a range, all parts of one list being of one revision.
///
/// `end` is on the last part only: a stream that ends without it was cut, and what it gave is not the whole range.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ListChunk {
    /// In ascending order of keys, within and across parts.
    pub kvs: Vec<KeyValue>,
    /// On the last part.
    pub end: Option<ListEnd>,
}

impl ListChunk {
    /// A part that others follow.
    #[must_use]
    pub fn part(kvs: Vec<KeyValue>) -> Self {
        Self { kvs, end: None }
    }

    /// The last part.
    #[must_use]
    pub fn last(kvs: Vec<KeyValue>, end: ListEnd) -> Self {
        Self { kvs, end: Some(end) }
    }
}

/// What is known at the end of a list that came in parts.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListEnd {
    /// The revision of every part: the one asked for, else the head when the list began.
    pub revision: Revision,
    /// The limit cut the range short.
    pub more: bool,
    /// As in [`ListResponse::count`].
    pub count: Option<i64>,
}

impl ListEnd {
    /// The end of a list read at `revision`.
    #[must_use]
    pub fn new(revision: Revision, more: bool, count: Option<i64>) -> Self {
        Self { revision, more, count }
    }
}
