//! A call of a backend, in words that all operations share.

use std::fmt;

use bytes::Bytes;
use kubestore_kv::{
    DeleteRequest, GetRequest, LeaseId, ListRequest, PutRequest, Revision, WatchRequest, WatchTarget,
};

/// A method of [`Kv`](kubestore_kv::Kv).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// `compact`
    Compact,
    /// `count`
    Count,
    /// `get`
    Get,
    /// `grant_lease`
    GrantLease,
    /// `lease_info`
    LeaseInfo,
    /// `list`
    List,
    /// `list_chunks`
    ListChunks,
    /// `optimistic_delete`
    OptimisticDelete,
    /// `optimistic_put`
    OptimisticPut,
    /// `request_progress`
    RequestProgress,
    /// `revoke_lease`
    RevokeLease,
    /// `status`
    Status,
    /// `watch`
    Watch,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Compact,
        Self::Count,
        Self::Get,
        Self::GrantLease,
        Self::LeaseInfo,
        Self::List,
        Self::ListChunks,
        Self::OptimisticDelete,
        Self::OptimisticPut,
        Self::RequestProgress,
        Self::RevokeLease,
        Self::Status,
        Self::Watch,
    ];

    /// The method's name, as [`KvError::operation`](kubestore_kv::KvError::operation) has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Count => "count",
            Self::Get => "get",
            Self::GrantLease => "grant_lease",
            Self::LeaseInfo => "lease_info",
            Self::List => "list",
            Self::ListChunks => "list_chunks",
            Self::OptimisticDelete => "optimistic_delete",
            Self::OptimisticPut => "optimistic_put",
            Self::RequestProgress => "request_progress",
            Self::RevokeLease => "revoke_lease",
            Self::Status => "status",
            Self::Watch => "watch",
        }
    }

    /// Whether it changes anything, so that a lost answer leaves the outcome unknown.
    #[must_use]
    pub const fn is_write(self) -> bool {
        matches!(
            self,
            Self::Compact
                | Self::GrantLease
                | Self::OptimisticDelete
                | Self::OptimisticPut
                | Self::RevokeLease
        )
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was asked of a backend. Values are not kept, only their size.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// How many calls the wrapper saw before.
    pub number: u64,
    /// Which method.
    pub operation: Operation,
    /// The key, or the prefix of a range or watch.
    pub key: Option<Bytes>,
    /// The first key of a list, where it is not the prefix.
    pub start: Option<Bytes>,
    /// The limit of a list.
    pub limit: Option<u64>,
    /// The revision to read at, to expect, to watch from or to compact.
    pub revision: Option<Revision>,
    /// The lease granted, revoked, asked for or put with.
    pub lease: Option<LeaseId>,
    /// Bytes of the value put.
    pub value_len: Option<usize>,
}

impl Call {
    /// A call without any details.
    pub(crate) fn plain(operation: Operation) -> Self {
        Self {
            number: 0,
            operation,
            key: None,
            start: None,
            limit: None,
            revision: None,
            lease: None,
            value_len: None,
        }
    }

    pub(crate) fn get(request: &GetRequest) -> Self {
        Self { key: Some(request.key.clone()), revision: request.revision, ..Self::plain(Operation::Get) }
    }

    pub(crate) fn list(operation: Operation, request: &ListRequest) -> Self {
        Self {
            key: Some(request.prefix.clone()),
            start: request.start.clone(),
            limit: request.limit.map(Into::into),
            revision: request.revision,
            ..Self::plain(operation)
        }
    }

    pub(crate) fn count(prefix: &Bytes) -> Self {
        Self { key: Some(prefix.clone()), ..Self::plain(Operation::Count) }
    }

    pub(crate) fn put(request: &PutRequest) -> Self {
        Self {
            key: Some(request.key.clone()),
            revision: expected_revision(request.expect),
            lease: request.lease,
            value_len: Some(request.value.len()),
            ..Self::plain(Operation::OptimisticPut)
        }
    }

    pub(crate) fn delete(request: &DeleteRequest) -> Self {
        Self {
            key: Some(request.key.clone()),
            revision: expected_revision(request.expect),
            ..Self::plain(Operation::OptimisticDelete)
        }
    }

    pub(crate) fn watch(request: &WatchRequest) -> Self {
        let (WatchTarget::Key(key) | WatchTarget::Prefix(key)) = &request.target;
        Self { key: Some(key.clone()), revision: request.start, ..Self::plain(Operation::Watch) }
    }

    pub(crate) fn of_lease(operation: Operation, lease: LeaseId) -> Self {
        Self { lease: Some(lease), ..Self::plain(operation) }
    }

    pub(crate) fn compact(revision: Revision) -> Self {
        Self { revision: Some(revision), ..Self::plain(Operation::Compact) }
    }
}

fn expected_revision(expect: kubestore_kv::Expect) -> Option<Revision> {
    match expect {
        kubestore_kv::Expect::ModRevision(revision) => Some(revision),
        _ => None,
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {}", self.number, self.operation)?;
        if let Some(key) = &self.key {
            write!(f, " {}", String::from_utf8_lossy(key).escape_debug())?;
        }
        if let Some(start) = &self.start {
            write!(f, " from {}", String::from_utf8_lossy(start).escape_debug())?;
        }
        if let Some(revision) = self.revision {
            write!(f, " at {revision}")?;
        }
        if let Some(limit) = self.limit {
            write!(f, " limit {limit}")?;
        }
        if let Some(lease) = self.lease {
            write!(f, " lease {lease}")?;
        }
        if let Some(len) = self.value_len {
            write!(f, " with {len} bytes")?;
        }
        Ok(())
    }
}
