//! The history of every key.

use std::collections::BTreeMap;

use bytes::Bytes;
use kubestore_kv::{KeyValue, LeaseId, Revision};

/// All keys at all revisions.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) head: i64,
    pub(super) compacted: i64,
    /// What each key was from a revision on; `None` is deleted.
    history: BTreeMap<String, BTreeMap<i64, Option<KeyValue>>>,
}

/// Why a revision cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    Compacted,
    Future,
}

/// One change of one key.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) revision: i64,
    pub(super) key: String,
    pub(super) current: Option<KeyValue>,
    pub(super) previous: Option<KeyValue>,
}

impl Keys {
    pub(super) fn new(head: i64) -> Self {
        Self { head, compacted: 0, history: BTreeMap::new() }
    }

    /// The revision to read: the newest for 0 and below.
    pub(super) fn readable(&self, revision: i64) -> Result<i64, Unreadable> {
        match revision {
            ..=0 => Ok(self.head),
            _ if revision > self.head => Err(Unreadable::Future),
            _ if revision < self.compacted => Err(Unreadable::Compacted),
            _ => Ok(revision),
        }
    }

    pub(super) fn at(&self, key: &str, revision: i64) -> Option<&KeyValue> {
        let (_, state) = self.history.get(key)?.range(..=revision).next_back()?;
        state.as_ref()
    }

    pub(super) fn current(&self, key: &str) -> Option<&KeyValue> {
        self.at(key, self.head)
    }

    /// Keys with a prefix, from `start` on, in order.
    pub(super) fn range<'k>(
        &'k self,
        prefix: &'k str,
        start: &str,
        revision: i64,
    ) -> impl Iterator<Item = (&'k str, &'k KeyValue)> {
        let keys = self.history.range(start.to_owned()..);
        keys.map(|(key, _)| key.as_str())
            .take_while(move |key| key.starts_with(prefix))
            .filter_map(move |key| Some((key, self.at(key, revision)?)))
    }

    pub(super) fn put(&mut self, key: &str, value: Bytes, lease: Option<i64>) -> i64 {
        let revision = Revision(self.head + 1);
        let mut kv = KeyValue::new(key.to_owned(), value, revision);
        if let Some(old) = self.current(key) {
            kv.create_revision = old.create_revision;
            kv.version = old.version + 1;
        }
        kv.lease = lease.map(LeaseId);
        self.head += 1;
        self.history.entry(key.to_owned()).or_default().insert(self.head, Some(kv));
        self.head
    }

    /// Deletes keys in one revision; with no such keys nothing happens.
    pub(super) fn delete<'k>(&mut self, keys: impl IntoIterator<Item = &'k str>) -> i64 {
        let keys: Vec<_> = keys.into_iter().filter(|key| self.current(key).is_some()).collect();
        if !keys.is_empty() {
            self.head += 1;
        }
        for key in keys {
            self.history.entry(key.to_owned()).or_default().insert(self.head, None);
        }
        self.head
    }

    pub(super) fn with_lease(&self, lease: i64) -> Vec<String> {
        let held = |kv: &KeyValue| kv.lease == Some(LeaseId(lease));
        self.history.keys().filter(|key| self.current(key).is_some_and(held)).cloned().collect()
    }

    /// What happened from `start` on, by revision and then by key.
    pub(super) fn changes(&self, start: i64) -> Vec<Change> {
        let mut changes = Vec::new();
        for (key, states) in &self.history {
            for (revision, current) in states.range(start..) {
                // What it replaced is read at the revision before, which may be gone.
                let previous = (*revision > self.compacted).then(|| self.at(key, revision - 1)).flatten();
                changes.push(Change {
                    revision: *revision,
                    key: key.clone(),
                    current: current.clone(),
                    previous: previous.cloned(),
                });
            }
        }
        changes.sort_by(|a, b| (a.revision, &a.key).cmp(&(b.revision, &b.key)));
        changes
    }
}
