//! What each request does to a state: comparison first, then the change, as one transaction of etcd's.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use kubestore_kv::{
    DeleteRequest, Expect, KvError, KvErrorKind, LeaseGrant, LeaseId, MAX_LEASE_TTL, OnFailure, PutRequest,
    Revision, WriteOutcome,
};

use super::State;
use crate::{
    lease::{Lease, to_millis},
    record::{Commit, Event, Record},
};

/// A request to change something.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Put(PutRequest),
    Delete(DeleteRequest),
    Grant(Duration),
    Revoke(LeaseId),
    /// End the leases whose deadline has passed.
    Expire,
    Compact(Revision),
}

#[cfg(feature = "durable")]
impl Op {
    /// Whether less is left afterwards, at the latest after a compaction.
    pub(crate) fn makes_room(&self) -> bool {
        match self {
            Self::Put(_) | Self::Grant(_) => false,
            Self::Delete(_) | Self::Revoke(_) | Self::Expire | Self::Compact(_) => true,
        }
    }
}

/// What became of an [`Op`].
#[derive(Clone, Debug)]
pub(crate) enum Done {
    Write(WriteOutcome),
    Lease(LeaseGrant),
    Nothing,
}

impl Done {
    pub(crate) fn into_write(self, operation: &'static str) -> Result<WriteOutcome, KvError> {
        match self {
            Self::Write(outcome) => Ok(outcome),
            _ => Err(wrong_answer(operation)),
        }
    }

    pub(crate) fn into_lease(self, operation: &'static str) -> Result<LeaseGrant, KvError> {
        match self {
            Self::Lease(grant) => Ok(grant),
            _ => Err(wrong_answer(operation)),
        }
    }
}

fn wrong_answer(operation: &'static str) -> KvError {
    KvError::new(
        KvErrorKind::Internal,
        operation,
        "the writer answered another request; this is a fault of the engine",
    )
}

/// One thing to make durable.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "durable"), expect(dead_code, reason = "memory keeps nothing but the state itself"))]
pub(crate) enum Change {
    Commit(Commit),
    Granted(i64, Lease),
    Ended(i64, Lease),
    Compacted(i64),
    /// A version that nothing reads any more.
    Erased(Arc<Record>),
}

/// The shortest TTL granted, in seconds: etcd's with its default election timeout.
const MIN_LEASE_TTL: u64 = 2;

impl State {
    /// Decides `op` and applies it. An error leaves the state as it was.
    pub(crate) fn apply(
        &mut self,
        op: Op,
        now: SystemTime,
        changes: &mut Vec<Change>,
    ) -> Result<Done, KvError> {
        match op {
            Op::Put(request) => self.put(request, changes).map(Done::Write),
            Op::Delete(request) => Ok(Done::Write(self.delete(&request, changes))),
            Op::Grant(ttl) => self.grant(ttl, now, changes).map(Done::Lease),
            Op::Revoke(id) => {
                if self.leases.get(id.0).is_none() {
                    return Err(lease_not_found("revoke_lease", id));
                }
                self.end_lease(id.0, changes);
                Ok(Done::Nothing)
            }
            Op::Expire => {
                while let Some(id) = self.leases.ended(now) {
                    self.end_lease(id, changes);
                }
                Ok(Done::Nothing)
            }
            Op::Compact(revision) => self.compact(revision, changes).map(|()| Done::Nothing),
        }
    }

    fn put(&mut self, request: PutRequest, changes: &mut Vec<Change>) -> Result<WriteOutcome, KvError> {
        let current = self.newest(&request.key).cloned();
        if let Some(conflict) = self.conflict(current.as_ref(), request.expect, request.on_failure) {
            return Ok(conflict);
        }
        let lease = request.lease.map_or(0, |id| id.0);
        if lease != 0 && self.leases.get(lease).is_none() {
            return Err(lease_not_found("optimistic_put", LeaseId(lease)).with_key(request.key));
        }
        let revision = self.head + 1;
        // All versions share one allocation of the key. Both are copied, so that neither a large buffer which they
        // are a slice of, nor spare capacity, lives as long as the object does.
        let (key, created, version) = match &current {
            Some(old) => (old.key.clone(), old.created, old.version + 1),
            None => (self.known_key(&request.key), revision, 1),
        };
        let value = Bytes::copy_from_slice(&request.value);
        let record = Record { key, value, created, modified: revision, number: 0, version, lease };
        self.replace(Arc::new([Event { record: Arc::new(record), previous: current }]), changes);
        Ok(WriteOutcome::Done { revision: Revision(revision) })
    }

    fn delete(&mut self, request: &DeleteRequest, changes: &mut Vec<Change>) -> WriteOutcome {
        let current = self.newest(&request.key).cloned();
        if let Some(conflict) = self.conflict(current.as_ref(), request.expect, request.on_failure) {
            return conflict;
        }
        if let Some(old) = current {
            self.replace(Arc::new([tombstone(old, self.head + 1, 0)]), changes);
        }
        WriteOutcome::Done { revision: Revision(self.head) }
    }

    fn grant(
        &mut self,
        ttl: Duration,
        now: SystemTime,
        changes: &mut Vec<Change>,
    ) -> Result<LeaseGrant, KvError> {
        if ttl.is_zero() || ttl > MAX_LEASE_TTL {
            let message = format!(
                "a lease of {ttl:?} cannot be granted; ask for more than 0 and at most {MAX_LEASE_TTL:?}"
            );
            return Err(KvError::new(KvErrorKind::InvalidArgument, "grant_lease", message));
        }
        let seconds = (ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0)).max(MIN_LEASE_TTL);
        let millis = i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
        let lease = Lease { ttl: seconds, deadline: to_millis(now).saturating_add(millis) };
        let id = self.leases.last + 1;
        self.leases.insert(id, lease);
        changes.push(Change::Granted(id, lease));
        Ok(LeaseGrant::new(LeaseId(id), Duration::from_secs(seconds)))
    }

    fn compact(&mut self, revision: Revision, changes: &mut Vec<Change>) -> Result<(), KvError> {
        if revision.0 > self.head {
            return Err(KvError::future_revision("compact", revision, Revision(self.head)));
        }
        if revision.0 <= self.compacted {
            return Err(KvError::compacted("compact", Revision(self.compacted)));
        }
        self.compacted = revision.0;
        changes.push(Change::Compacted(revision.0));
        Ok(())
    }

    /// Deletes the lease's keys in one revision, in the order of the keys, and forgets the lease.
    fn end_lease(&mut self, id: i64, changes: &mut Vec<Change>) {
        let revision = self.head + 1;
        let keys = self.leases.keys(id);
        let living = keys.iter().filter_map(|key| self.newest(key));
        let events: Commit =
            living.zip(0..).map(|(old, number)| tombstone(Arc::clone(old), revision, number)).collect();
        if !events.is_empty() {
            self.replace(events, changes);
        }
        changes.extend(self.leases.remove(id).map(|lease| Change::Ended(id, lease)));
    }

    /// Whether the expectation fails, and the answer to that.
    fn conflict(
        &self,
        current: Option<&Arc<Record>>,
        expect: Expect,
        answer: OnFailure,
    ) -> Option<WriteOutcome> {
        let current = current.map(|record| record.key_value());
        if expect.holds(current.as_ref()) {
            return None;
        }
        let current = current.filter(|_| answer == OnFailure::Get);
        Some(WriteOutcome::Conflict { current, head: Revision(self.head) })
    }

    /// The key's own bytes, shared with its tombstone if that is still there.
    fn known_key(&self, key: &Bytes) -> Bytes {
        self.index.get(key).map_or_else(|| Bytes::copy_from_slice(key), |record| record.key.clone())
    }

    /// Makes `commit` the newest revision.
    fn replace(&mut self, commit: Commit, changes: &mut Vec<Change>) {
        self.append(&commit);
        changes.push(Change::Commit(commit));
    }

    /// Takes over a commit: of a request that was just decided, or read from disk.
    pub(crate) fn append(&mut self, commit: &Commit) {
        for event in commit.iter() {
            let record = &event.record;
            self.head = record.modified;
            if let Some(previous) = &event.previous {
                self.leases.detach(previous.lease, &previous.key);
            }
            self.leases.attach(record.lease, &record.key);
            if let Some(replaced) = self.index.insert(record.key.clone(), Arc::clone(record)) {
                self.old.insert((record.key.clone(), replaced.modified), replaced);
            }
        }
        self.log.push(self.head, Arc::clone(commit));
    }
}

fn tombstone(old: Arc<Record>, revision: i64, number: u32) -> Event {
    let key = old.key.clone();
    let record =
        Record { key, value: Bytes::new(), created: 0, modified: revision, number, version: 0, lease: 0 };
    Event { record: Arc::new(record), previous: Some(old) }
}

pub(crate) fn lease_not_found(operation: &'static str, id: LeaseId) -> KvError {
    let message = format!("lease {id} has ended, was revoked, or never was; grant a new one");
    KvError::new(KvErrorKind::LeaseNotFound, operation, message)
}
