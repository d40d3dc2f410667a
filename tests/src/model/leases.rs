//! Leases, and how writes share them.

use std::time::Duration;

use kubestore_kv::MAX_LEASE_TTL;

use crate::recording::LeaseLimits;

/// The backend's leases and the store's lease manager.
#[derive(Debug)]
pub(super) struct Leases {
    limits: LeaseLimits,
    granted: Vec<Lease>,
    previous: Option<Previous>,
}

#[derive(Debug)]
struct Lease {
    seconds: u64,
    until: Duration,
    alive: bool,
}

/// The lease that the next write may share.
#[derive(Clone, Copy, Debug)]
struct Previous {
    id: i64,
    until: Duration,
    count: u64,
}

/// etcd grants no less.
const MIN_SECONDS: u64 = 2;

impl Leases {
    pub(super) fn new(limits: LeaseLimits) -> Self {
        Self { limits, granted: Vec::new(), previous: None }
    }

    /// A new store has a new lease manager.
    pub(super) fn forget(&mut self) {
        self.previous = None;
    }

    /// The lease for a write: the one before if it fits, else a new one; none if etcd takes no TTL as large.
    pub(super) fn get(&mut self, ttl: u64, now: Duration) -> Option<i64> {
        let slack = (ttl / 20).min(self.limits.reuse_seconds);
        if let Some(previous) = &mut self.previous {
            previous.count += 1;
            let after = |seconds| now.saturating_add(Duration::from_secs(seconds));
            let fits = after(ttl) < previous.until && after(ttl.saturating_add(slack)) > previous.until;
            if fits && previous.count <= self.limits.max_object_count {
                return Some(previous.id);
            }
        }
        let seconds = ttl.saturating_add(slack);
        if seconds > MAX_LEASE_TTL.as_secs() {
            return None;
        }
        let until = now.saturating_add(Duration::from_secs(seconds));
        let granted = seconds.max(MIN_SECONDS);
        self.granted.push(Lease {
            seconds: granted,
            until: now.saturating_add(Duration::from_secs(granted)),
            alive: true,
        });
        let id = i64::try_from(self.granted.len()).unwrap_or(i64::MAX);
        self.previous = Some(Previous { id, until, count: 1 });
        Some(id)
    }

    pub(super) fn alive(&self, id: i64) -> bool {
        self.lease(id).is_some_and(|lease| lease.alive)
    }

    pub(super) fn granted_seconds(&self, id: i64) -> u64 {
        self.lease(id).map_or(0, |lease| lease.seconds)
    }

    pub(super) fn end(&mut self, id: i64) {
        if let Some(lease) = usize::try_from(id - 1).ok().and_then(|index| self.granted.get_mut(index)) {
            lease.alive = false;
        }
    }

    /// Leases that are over by now, in the order in which they ended.
    pub(super) fn over(&self, now: Duration) -> Vec<i64> {
        let mut over: Vec<_> = (1..)
            .zip(&self.granted)
            .filter(|(_, lease)| lease.alive && lease.until <= now)
            .map(|(id, lease)| (lease.until, id))
            .collect();
        over.sort_unstable();
        over.into_iter().map(|(_, id)| id).collect()
    }

    fn lease(&self, id: i64) -> Option<&Lease> {
        usize::try_from(id - 1).ok().and_then(|index| self.granted.get(index))
    }
}
