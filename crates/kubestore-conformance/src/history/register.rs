//! One key as a register that takes one write after the other: which answers it can give.

use bytes::Bytes;
use kubestore_kv::{Expect, KeyValue, LeaseId, Revision};

/// The key at some point of an order that is tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct State {
    live: Option<Live>,
    /// A revision that has been reached: later writes have higher ones.
    reached: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Live {
    value: Bytes,
    modified: Modified,
    /// `None` while it is the revision of a write that nobody was told.
    created: Option<i64>,
    version: i64,
    lease: Option<LeaseId>,
}

/// The revision of the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Modified {
    At(i64),
    /// A write that nobody was told the revision of, but for that it is higher than this.
    Above(i64),
}

/// What one answer says about one key, or what a write of unknown outcome may have done to it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    /// A put that happened, at this revision where it is known.
    Put { expect: Expect, value: &'a Bytes, lease: Option<LeaseId>, revision: Option<Revision> },
    /// A deletion that happened.
    Delete { expect: Expect, revision: Option<Revision> },
    /// The key was seen so when `head` was the newest revision.
    Read { kv: Option<&'a KeyValue>, head: Revision, detail: Detail },
    /// A write did not happen because this did not hold; the key was not shown.
    Conflict { expect: Expect, head: Revision },
}

/// How much of a key an answer shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Without its value, and perhaps without its lease.
    Key,
    /// All of it.
    Whole,
}

impl State {
    /// The state after `step`, or `None` if the register cannot have answered so.
    pub(super) fn after(&self, step: Step<'_>) -> Option<Self> {
        match step {
            Step::Put { expect, value, lease, revision } => self.put(expect, value, lease, revision),
            Step::Delete { expect, revision } => {
                let state = self.expecting(expect)?;
                state.live.as_ref()?;
                Some(Self { live: None, reached: state.next(revision)? })
            }
            Step::Read { kv, head, detail } => {
                let seen = match kv {
                    Some(kv) => self.showing(kv, head, detail)?,
                    None => self.absent()?,
                };
                seen.at(head)
            }
            Step::Conflict { expect, head } => self.failing(expect)?.at(head),
        }
    }

    /// The key in words.
    pub(super) fn text(&self) -> String {
        let reached = self.reached;
        match &self.live {
            None => format!("absent at {reached}"),
            Some(live) => {
                let modified = match live.modified {
                    Modified::At(revision) => format!("{revision}"),
                    Modified::Above(revision) => format!("a revision above {revision}"),
                };
                format!("version {} of {modified}, {} bytes, at {reached}", live.version, live.value.len())
            }
        }
    }

    fn put(
        &self,
        expect: Expect,
        value: &Bytes,
        lease: Option<LeaseId>,
        revision: Option<Revision>,
    ) -> Option<Self> {
        let state = self.expecting(expect)?;
        let reached = state.next(revision)?;
        let (created, version) = match &state.live {
            Some(live) => (live.created, live.version + 1),
            None => (revision.map(|revision| revision.0), 1),
        };
        let modified = match revision {
            Some(revision) => Modified::At(revision.0),
            None => Modified::Above(state.reached),
        };
        let live = Live { value: value.clone(), modified, created, version, lease };
        Some(Self { live: Some(live), reached })
    }

    /// What is reached by one write more, at `revision` where it is known.
    fn next(&self, revision: Option<Revision>) -> Option<i64> {
        match revision {
            Some(revision) => (revision.0 > self.reached).then_some(revision.0),
            None => Some(self.reached + 1),
        }
    }

    /// With `head` as the newest revision.
    fn at(mut self, head: Revision) -> Option<Self> {
        (head.0 >= self.reached).then(|| {
            self.reached = head.0;
            self
        })
    }

    /// The state in which `expect` holds, with what that tells about it.
    fn expecting(&self, expect: Expect) -> Option<Self> {
        match expect {
            Expect::ModRevision(Revision(0)) | Expect::Version(0) => self.absent(),
            Expect::ModRevision(revision) => self.modified_at(revision.0),
            Expect::Version(version) => (self.live.as_ref()?.version == version).then(|| self.clone()),
            _ => None,
        }
    }

    /// The state in which `expect` does not hold.
    fn failing(&self, expect: Expect) -> Option<Self> {
        let held = match (expect, &self.live) {
            (Expect::ModRevision(revision), None) => revision.0 == 0,
            (Expect::ModRevision(revision), Some(live)) => live.modified == Modified::At(revision.0),
            (Expect::Version(version), live) => live.as_ref().map_or(0, |live| live.version) == version,
            _ => false,
        };
        if !held {
            return Some(self.clone());
        }
        // Unless the lease has ended meanwhile.
        self.live.as_ref().and_then(|_| self.absent())
    }

    /// The state in which the key does not exist. One with a lease may have ended.
    fn absent(&self) -> Option<Self> {
        match &self.live {
            None => Some(self.clone()),
            Some(live) => live.lease.map(|_| Self { live: None, reached: self.reached + 1 }),
        }
    }

    /// The state in which the last write was at `revision`.
    fn modified_at(&self, revision: i64) -> Option<Self> {
        let live = self.live.as_ref()?;
        match live.modified {
            Modified::At(known) => (known == revision).then(|| self.clone()),
            Modified::Above(above) if revision > above => {
                let modified = Modified::At(revision);
                let created = live.created.or(Some(revision));
                let reached = self.reached.max(revision);
                Some(Self { live: Some(Live { modified, created, ..live.clone() }), reached })
            }
            Modified::Above(_) => None,
        }
    }

    fn showing(&self, kv: &KeyValue, head: Revision, detail: Detail) -> Option<Self> {
        let state = self.modified_at(kv.mod_revision.0)?;
        let live = state.live.as_ref()?;
        let same = live.version == kv.version
            && live.created == Some(kv.create_revision.0)
            && kv.mod_revision <= head
            && (detail == Detail::Key || (live.value == kv.value && live.lease == kv.lease));
        same.then_some(state)
    }
}
