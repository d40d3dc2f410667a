//! What events are told apart by.

use std::{borrow::Cow, fmt};

/// The resource that an event is about.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceLabels<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural name in lower case.
    pub resource: &'a str,
}

impl<'a> ResourceLabels<'a> {
    /// The resource `resource` of `group`; the core group is `""`.
    #[must_use]
    pub const fn new(group: &'a str, resource: &'a str) -> Self {
        Self { group, resource }
    }

    /// Both in one label value: `resource.group`, or `resource` in the core group.
    #[must_use]
    pub fn combined(self) -> Cow<'a, str> {
        if self.group.is_empty() {
            Cow::Borrowed(self.resource)
        } else {
            Cow::Owned(format!("{}.{}", self.resource, self.group))
        }
    }
}

impl fmt::Display for ResourceLabels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.combined())
    }
}

/// What was asked of the backend, under the name that Kubernetes gives it in the label `operation`.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EtcdOperation {
    /// One key was read; also a list that is not recursive.
    Get,
    /// A page of a list was read.
    List,
    /// Keys were counted.
    ListWithCount,
    /// A list was read as a stream; the time is that of the whole stream.
    ListStream,
    /// Keys were read without their values.
    ListOnlyKeys,
    /// A key was put that must not exist.
    Create,
    /// A key was put that must be unchanged.
    Update,
    /// A key was deleted that must be unchanged.
    Delete,
}

impl EtcdOperation {
    /// The value of the label `operation`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::ListWithCount => "listWithCount",
            Self::ListStream => "listStream",
            Self::ListOnlyKeys => "listOnlyKeys",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

/// Which way a value was transformed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Opened: what is stored became what is used.
    FromStorage,
    /// Sealed: what is used became what is stored.
    ToStorage,
}

impl Direction {
    /// The value of the label `transformation_type`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::FromStorage => "from_storage",
            Self::ToStorage => "to_storage",
        }
    }
}
