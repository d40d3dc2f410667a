//! What came of a step, in the same terms.

use kubestore_kv::{KvErrorKind, KvEventKind};

/// What a backend answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Done {
        revision: i64,
    },
    Conflict {
        current: Option<Pair>,
        head: i64,
    },
    Key {
        kv: Option<Pair>,
        head: i64,
    },
    Range {
        kvs: Vec<Pair>,
        revision: i64,
        more: bool,
        count: Option<i64>,
    },
    Count(i64),
    Granted {
        seconds: u64,
    },
    Lease {
        seconds: u64,
        alive: bool,
    },
    Nothing,
    /// By watch: what was told since, and how it ended if it did.
    Told(Vec<(usize, Vec<Event>, Option<KvErrorKind>)>),
    Head(i64),
    Failed(KvErrorKind),
}

/// A key and what is kept with it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
    pub(super) created: i64,
    pub(super) modified: i64,
    pub(super) version: i64,
    /// Not looked at where only keys were asked for.
    pub(super) lease: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: KvEventKind,
    pub(super) kv: Pair,
    pub(super) previous: Option<Pair>,
}

impl Seen {
    pub(super) fn is_error(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    pub(super) fn events(&self) -> usize {
        match self {
            Self::Told(told) => told.iter().map(|(_, events, _)| events.len()).sum(),
            _ => 0,
        }
    }
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key, value, created, modified, version, lease } = self;
        let (key, start) = (String::from_utf8_lossy(key), &value[..value.len().min(8)]);
        write!(
            f,
            "{key:?} = {:?} ({}) created {created} modified {modified} version {version} lease {lease:?}",
            String::from_utf8_lossy(start),
            value.len()
        )
    }
}
