//! One version of one key, and what a write did to it.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use kubestore_kv::{KeyValue, KvEvent, LeaseId, Revision};

/// One version of one key, shared by the index, the old versions and the log. Version 0 is a tombstone.
pub(crate) struct Record {
    pub(crate) key: Bytes,
    pub(crate) value: Bytes,
    pub(crate) created: i64,
    pub(crate) modified: i64,
    /// Its number among the changes of its revision.
    #[cfg_attr(not(feature = "durable"), expect(dead_code, reason = "a part of its place on disk"))]
    pub(crate) number: u32,
    pub(crate) version: i64,
    /// 0 is none.
    pub(crate) lease: i64,
}

impl Record {
    pub(crate) fn is_tombstone(&self) -> bool {
        self.version == 0
    }

    pub(crate) fn lease(&self) -> Option<LeaseId> {
        (self.lease != 0).then_some(LeaseId(self.lease))
    }

    pub(crate) fn key_only(&self) -> KeyValue {
        let mut kv = KeyValue::new(self.key.clone(), Bytes::new(), Revision(self.modified));
        kv.create_revision = Revision(self.created);
        kv.version = self.version;
        kv.lease = self.lease();
        kv
    }

    pub(crate) fn key_value(&self) -> KeyValue {
        let mut kv = self.key_only();
        kv.value = self.value.clone();
        kv
    }
}

/// Without the value, which may be somebody's secret.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("at", &self.key_only()).field("value_len", &self.value.len()).finish()
    }
}

/// One change of one key.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) record: Arc<Record>,
    /// The version it replaced, unless the key was not there.
    pub(crate) previous: Option<Arc<Record>>,
}

impl Event {
    pub(crate) fn revision(&self) -> i64 {
        self.record.modified
    }

    /// Bytes that a watcher's batch grows by.
    pub(crate) fn size(&self, previous: bool) -> usize {
        let replaced = self.previous.as_ref().filter(|_| previous).map_or(0, |record| record.value.len());
        self.record.key.len() + self.record.value.len() + replaced
    }

    pub(crate) fn to_event(&self, previous: bool) -> KvEvent {
        let previous = self.previous.as_ref().filter(|_| previous).map(|record| record.key_value());
        if self.record.is_tombstone() {
            KvEvent::delete(self.record.key.clone(), Revision(self.record.modified), previous)
        } else {
            KvEvent::put(self.record.key_value(), previous)
        }
    }
}

/// What one revision changed: never empty, all events of the same revision.
pub(crate) type Commit = Arc<[Event]>;
