//! What a history is made of.

use std::fmt;

use kubestore_kv::{
    DeleteRequest, GetRequest, KeyValue, KvErrorKind, KvEvent, ListRequest, PutRequest, Revision,
    WatchRequest, WriteOutcome,
};

/// A point in time: how many other moments of the same history came before. Of two moments it is always known which came
/// first.
pub type Moment = u64;

/// What clients asked and were told. Keys that it names did not exist when it began.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct History {
    /// In any order.
    pub attempts: Vec<Attempt>,
    /// In any order.
    pub watches: Vec<WatchRecord>,
    /// All watches had the time to tell everything up to this revision: those that were neither dropped nor ended by an error
    /// must have told it.
    pub settled: Option<Revision>,
}

/// One operation of one client.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Who asked, for reports.
    pub client: usize,
    /// Before the backend can have heard of it.
    pub begun: Moment,
    /// After the client knew; `None` if it never did.
    pub ended: Option<Moment>,
    /// What was asked.
    pub asked: Asked,
    /// What was told.
    pub answer: Answer,
}

impl Attempt {
    /// An operation of `client` that was answered.
    #[must_use]
    pub fn new(client: usize, begun: Moment, ended: Moment, asked: Asked, answer: Answer) -> Self {
        Self { client, begun, ended: Some(ended), asked, answer }
    }

    /// An operation that `client` never got an answer to.
    #[must_use]
    pub fn unanswered(client: usize, begun: Moment, asked: Asked) -> Self {
        Self { client, begun, ended: None, asked, answer: Answer::Unknown }
    }

    /// Whether it may have been applied although nobody knows.
    #[must_use]
    pub fn is_unknown_write(&self) -> bool {
        matches!((&self.asked, &self.answer), (Asked::Put(_) | Asked::Delete(_), Answer::Unknown))
    }
}

/// What was asked.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum Asked {
    /// A conditional put.
    Put(PutRequest),
    /// A conditional deletion.
    Delete(DeleteRequest),
    /// One key.
    Get(GetRequest),
    /// A range, in one answer or in parts.
    List(ListRequest),
    /// That history be forgotten.
    Compact(Revision),
}

/// What was told.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum Answer {
    /// Of a write.
    Written(WriteOutcome),
    /// Of a get.
    Key {
        /// The key, if it exists.
        kv: Option<KeyValue>,
        /// The backend's newest revision.
        head: Revision,
    },
    /// Of a list.
    Range {
        /// What was listed.
        kvs: Vec<KeyValue>,
        /// The revision of the state listed.
        revision: Revision,
        /// Whether the limit cut it short.
        more: bool,
        /// Keys in the whole range.
        count: Option<i64>,
    },
    /// Of a compaction.
    Compacted,
    /// An error that says that nothing was done.
    Refused(KvErrorKind),
    /// Nothing, or that the outcome is unknown.
    Unknown,
}

/// One watch and what it was told.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct WatchRecord {
    /// Who watches, for reports.
    pub client: usize,
    /// What was asked.
    pub request: WatchRequest,
    /// When.
    pub begun: Moment,
    /// When the backend said that the watch is in place; `None` if it never did.
    pub registered: Option<Moment>,
    /// What was told, in order.
    pub told: Vec<(Moment, Told)>,
    /// How it ended, if it did.
    pub end: Option<WatchEnd>,
}

impl WatchRecord {
    /// A watch of `client` that has been told nothing yet.
    #[must_use]
    pub fn new(client: usize, request: WatchRequest, begun: Moment, registered: Moment) -> Self {
        Self { client, request, begun, registered: Some(registered), told: Vec::new(), end: None }
    }

    /// With one thing told more.
    #[must_use]
    pub fn with(mut self, at: Moment, told: Told) -> Self {
        self.told.push((at, told));
        self
    }
}

/// What a watch was told at once.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum Told {
    /// Changes.
    Events {
        /// In the order they came.
        events: Vec<KvEvent>,
        /// Nothing at or below is still to come.
        through: Revision,
    },
    /// Nothing at or below is still to come.
    Progress(Revision),
}

/// How a watch ended.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// Its client went away.
    Dropped,
    /// By an error.
    Failed(KvErrorKind),
    /// Without an error, which the contract does not provide for.
    Silent,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put(put) => write!(f, "put of {} where {:?}", shown(&put.key), put.expect),
            Self::Delete(delete) => write!(f, "deletion of {} where {:?}", shown(&delete.key), delete.expect),
            Self::Get(get) => {
                write!(f, "get of {}", shown(&get.key))?;
                at(f, get.revision)
            }
            Self::List(list) => {
                write!(f, "list of {}", shown(&list.prefix))?;
                at(f, list.revision)
            }
            Self::Compact(revision) => write!(f, "compaction to {revision}"),
        }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by client {} in {}..", self.asked, self.client, self.begun)?;
        if let Some(ended) = self.ended {
            write!(f, "{ended}")?;
        }
        match &self.answer {
            Answer::Written(WriteOutcome::Done { revision }) => write!(f, ": done at {revision}"),
            Answer::Written(WriteOutcome::Conflict { current, head }) => {
                write!(f, ": conflict at {head}, {}", seen(current.as_ref()))
            }
            Answer::Written(_) => f.write_str(": another outcome"),
            Answer::Key { kv, head } => write!(f, ": at {head}, {}", seen(kv.as_ref())),
            Answer::Range { kvs, revision, .. } => write!(f, ": {} keys at {revision}", kvs.len()),
            Answer::Compacted => f.write_str(": done"),
            Answer::Refused(kind) => write!(f, ": {kind:?}"),
            Answer::Unknown => f.write_str(": unknown"),
        }
    }
}

fn at(f: &mut fmt::Formatter<'_>, revision: Option<Revision>) -> fmt::Result {
    revision.map_or(Ok(()), |revision| write!(f, " at {revision}"))
}

pub(super) fn shown(key: &[u8]) -> impl fmt::Display {
    String::from_utf8_lossy(key).escape_debug().to_string()
}

pub(super) fn seen(kv: Option<&KeyValue>) -> String {
    kv.map_or_else(
        || "no key".to_owned(),
        |kv| format!("version {} of {} from {}", kv.version, kv.mod_revision, kv.create_revision),
    )
}
