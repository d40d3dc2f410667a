//! What is known to have changed, whoever knows it.

use std::collections::BTreeMap;

use bytes::Bytes;
use kubestore_kv::{Expect, KeyValue, KvEvent, KvEventKind, Revision, WriteOutcome};

use super::{
    Answer, Asked, History, Report, Told, ViolationKind,
    attempt::{seen, shown},
};

/// All changes that somebody was told of, by key and revision.
#[derive(Debug, Default)]
pub(super) struct Truth<'a> {
    changes: BTreeMap<&'a [u8], BTreeMap<Revision, Change<'a>>>,
    /// The highest revision that was asked to be compacted.
    compacted: Revision,
}

/// A change of one key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'a> {
    /// Deleted.
    Deleted,
    /// Put with this value; nobody was told the rest.
    Written(&'a Bytes),
    /// Put, and seen.
    Seen(&'a KeyValue),
}

impl<'a> Truth<'a> {
    /// Collects what `history` tells and reports what contradicts itself.
    pub(super) fn of(history: &'a History, report: &mut Report) -> Self {
        let mut truth = Self::default();
        for attempt in &history.attempts {
            truth.learn(&attempt.asked, &attempt.answer, report);
        }
        for watch in &history.watches {
            for (_, told) in &watch.told {
                if let Told::Events { events, .. } = told {
                    events.iter().for_each(|event| truth.learn_event(event, report));
                }
            }
        }
        truth
    }

    fn learn(&mut self, asked: &'a Asked, answer: &'a Answer, report: &mut Report) {
        match (asked, answer) {
            (Asked::Put(put), Answer::Written(WriteOutcome::Done { revision })) => {
                self.add(&put.key, *revision, Change::Written(&put.value), report);
            }
            (Asked::Delete(delete), Answer::Written(WriteOutcome::Done { revision }))
                if !expects_nothing(delete.expect) =>
            {
                self.add(&delete.key, *revision, Change::Deleted, report);
            }
            (_, Answer::Written(WriteOutcome::Conflict { current: Some(kv), .. }))
            | (_, Answer::Key { kv: Some(kv), .. }) => self.see(kv, report),
            (Asked::List(list), Answer::Range { kvs, .. }) if !list.keys_only => {
                kvs.iter().for_each(|kv| self.see(kv, report));
            }
            (Asked::Compact(revision), Answer::Compacted | Answer::Unknown) => {
                self.compacted = self.compacted.max(*revision);
            }
            _ => {}
        }
    }

    fn learn_event(&mut self, event: &'a KvEvent, report: &mut Report) {
        match event.kind {
            KvEventKind::Put => self.see(&event.kv, report),
            KvEventKind::Delete => {
                self.add(&event.kv.key, event.kv.mod_revision, Change::Deleted, report);
            }
        }
        event.previous.iter().for_each(|previous| self.see(previous, report));
    }

    fn see(&mut self, kv: &'a KeyValue, report: &mut Report) {
        self.add(&kv.key, kv.mod_revision, Change::Seen(kv), report);
    }

    fn add(&mut self, key: &'a Bytes, revision: Revision, change: Change<'a>, report: &mut Report) {
        let known = self.changes.entry(key).or_default().entry(revision).or_insert(change);
        if !known.agrees_with(change) {
            let (one, other) = (known.text(), change.text());
            let message = format!("{} at {revision} was {one} and {other}", shown(key));
            report.add(ViolationKind::Contradiction, message);
        } else if let Change::Written(_) = known {
            *known = change;
        }
    }

    /// All keys that anything is known about.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a [u8]> {
        self.changes.keys().copied()
    }

    /// The changes of keys, in the order of the keys.
    pub(super) fn changes(&self) -> impl Iterator<Item = (&'a [u8], &BTreeMap<Revision, Change<'a>>)> {
        self.changes.iter().map(|(key, changes)| (*key, changes))
    }

    /// The last change of `key` before `revision`.
    pub(super) fn before(&self, key: &[u8], revision: Revision) -> Option<Change<'a>> {
        self.changes.get(key)?.range(..revision).next_back().map(|(_, change)| *change)
    }

    /// Whether what a change at `revision` replaced may have been forgotten.
    pub(super) fn may_have_forgotten(&self, revision: Revision) -> bool {
        self.compacted >= revision
    }
}

impl Change<'_> {
    fn agrees_with(self, other: Change<'_>) -> bool {
        match (self, other) {
            (Change::Deleted, Change::Deleted) => true,
            (Change::Deleted, _) | (_, Change::Deleted) => false,
            // A lease is not looked at: it is not shown in every answer.
            (Change::Seen(one), Change::Seen(other)) => same(one, other),
            (one, other) => one.value() == other.value(),
        }
    }

    fn value(&self) -> Option<&Bytes> {
        match self {
            Self::Deleted => None,
            Self::Written(value) => Some(value),
            Self::Seen(kv) => Some(&kv.value),
        }
    }

    /// Whether this is what `kv` says.
    pub(super) fn is(self, kv: &KeyValue) -> bool {
        self.agrees_with(Change::Seen(kv))
    }

    /// It in words.
    pub(super) fn text(self) -> String {
        match self {
            Self::Deleted => "deleted".to_owned(),
            Self::Written(value) => format!("put with {} bytes", value.len()),
            Self::Seen(kv) => format!("{} with {} bytes", seen(Some(kv)), kv.value.len()),
        }
    }
}

fn same(one: &KeyValue, other: &KeyValue) -> bool {
    let rest = |kv: &KeyValue| (kv.create_revision, kv.mod_revision, kv.version);
    rest(one) == rest(other) && one.value == other.value && one.key == other.key
}

/// Whether a write is for a key that does not exist, so that its deletion changes nothing.
pub(super) fn expects_nothing(expect: Expect) -> bool {
    matches!(expect, Expect::ModRevision(Revision(0)) | Expect::Version(0))
}
