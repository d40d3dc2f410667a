//! The leases of a state: their deadlines and their keys.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use imbl::{OrdMap, OrdSet};
use kubestore_kv::LeaseInfo;

/// One lease as granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    /// Whole seconds.
    pub(crate) ttl: u64,
    /// Wall clock, milliseconds since the epoch.
    pub(crate) deadline: i64,
}

/// All leases, by number and by deadline, with their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    /// The highest number ever granted: numbers are not used twice.
    pub(crate) last: i64,
    by_id: OrdMap<i64, Lease>,
    by_deadline: OrdSet<(i64, i64)>,
    keys: OrdSet<(i64, Bytes)>,
}

impl Leases {
    pub(crate) fn get(&self, id: i64) -> Option<&Lease> {
        self.by_id.get(&id)
    }

    pub(crate) fn insert(&mut self, id: i64, lease: Lease) {
        self.last = self.last.max(id);
        self.by_id.insert(id, lease);
        self.by_deadline.insert((lease.deadline, id));
    }

    pub(crate) fn remove(&mut self, id: i64) -> Option<Lease> {
        let lease = self.by_id.remove(&id)?;
        self.by_deadline.remove(&(lease.deadline, id));
        Some(lease)
    }

    pub(crate) fn attach(&mut self, id: i64, key: &Bytes) {
        if id != 0 {
            self.keys.insert((id, key.clone()));
        }
    }

    pub(crate) fn detach(&mut self, id: i64, key: &Bytes) {
        if id != 0 {
            self.keys.remove(&(id, key.clone()));
        }
    }

    /// The keys of a lease, ascending.
    pub(crate) fn keys(&self, id: i64) -> Vec<Bytes> {
        let from = (id, Bytes::new());
        self.keys.range(from..).take_while(|(owner, _)| *owner == id).map(|(_, key)| key.clone()).collect()
    }

    /// When the next lease ends.
    pub(crate) fn next_deadline(&self) -> Option<SystemTime> {
        self.by_deadline.get_min().map(|(deadline, _)| from_millis(*deadline))
    }

    /// The lease that ended first, if one has ended at `now`.
    pub(crate) fn ended(&self, now: SystemTime) -> Option<i64> {
        let (deadline, id) = self.by_deadline.get_min()?;
        (*deadline <= to_millis(now)).then_some(*id)
    }
}

impl Lease {
    pub(crate) fn info(&self, now: SystemTime) -> LeaseInfo {
        let left = self.deadline.saturating_sub(to_millis(now));
        let remaining = u64::try_from(left).ok().filter(|left| *left > 0).map(Duration::from_millis);
        LeaseInfo::new(Duration::from_secs(self.ttl), remaining)
    }
}

/// Milliseconds since the epoch, negative before it; saturates far outside of any lease.
pub(crate) fn to_millis(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
    }
}

fn from_millis(millis: i64) -> SystemTime {
    let distance = Duration::from_millis(millis.unsigned_abs());
    let time = if millis < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    };
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}
