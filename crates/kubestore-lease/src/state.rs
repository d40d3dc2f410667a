//! What is remembered: the last lease, and the grants under way.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use futures_util::future::{BoxFuture, WeakShared};
use kubestore_kv::{KvError, LeaseGrant, LeaseId};

use crate::grant::SharedGrant;

/// What one call asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) now: SystemTime,
    pub(crate) instant: Instant,
    pub(crate) ttl: Duration,
    pub(crate) slack: Duration,
    /// The most writes of one lease.
    pub(crate) most: u64,
}

/// As in the reference only the last lease is remembered: nearly all writes with a TTL are events, and have the same.
#[derive(Debug, Default)]
pub(crate) struct State {
    last: Option<Lease>,
    /// By TTL; entries whose callers are all gone are dead.
    under_way: HashMap<Duration, UnderWay>,
    grants: u64,
}

#[derive(Debug)]
struct Lease {
    id: LeaseId,
    /// When it was asked for, by the wall clock and by one that nobody sets.
    granted_at: (SystemTime, Instant),
    ends: SystemTime,
    /// To how many writes it was handed out.
    writes: u64,
}

#[derive(Debug)]
struct UnderWay {
    number: u64,
    grant: WeakShared<BoxFuture<'static, Result<LeaseId, Arc<KvError>>>>,
    asked_at: SystemTime,
    /// The writes that wait for it.
    writes: u64,
}

/// Less than what clocks are corrected by while they run.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(5);

impl Lease {
    fn clock_was_set_back(&self, now: SystemTime) -> bool {
        let (wall, monotonic) = self.granted_at;
        match now.duration_since(wall) {
            Ok(age) => age + CLOCK_TOLERANCE < monotonic.elapsed(),
            Err(_) => true,
        }
    }
}

impl State {
    /// Hands out the last lease if it fits.
    pub(crate) fn reuse(&mut self, wish: Wish) -> Option<LeaseId> {
        // A clock that was set back makes an old lease look young.
        if self.last.as_ref().is_some_and(|lease| lease.clock_was_set_back(wish.now)) {
            self.last = None;
        }
        let lease = self.last.as_mut()?;
        let long_enough = wish.now + wish.ttl < lease.ends;
        let short_enough = lease.ends <= wish.now + wish.ttl + wish.slack;
        if !(long_enough && short_enough && lease.writes < wish.most) {
            return None;
        }
        lease.writes += 1;
        Some(lease.id)
    }

    /// Waits with others for a lease that will fit.
    pub(crate) fn join(&mut self, wish: Wish) -> Option<SharedGrant> {
        let under_way = self.under_way.get_mut(&wish.ttl)?;
        if under_way.writes >= wish.most || wish.now >= under_way.asked_at + wish.slack {
            return None;
        }
        let grant = under_way.grant.upgrade()?;
        under_way.writes += 1;
        Some(grant)
    }

    /// Counts the write that did not fit the last lease, and gives the new grant a number.
    pub(crate) fn begin(&mut self) -> u64 {
        if let Some(lease) = &mut self.last {
            lease.writes += 1;
        }
        self.grants += 1;
        self.grants
    }

    /// Lets others wait for the grant of this number.
    pub(crate) fn share(&mut self, number: u64, wish: Wish, grant: &SharedGrant) {
        self.under_way.retain(|_, other| other.grant.upgrade().is_some());
        if let Some(grant) = grant.downgrade() {
            self.under_way.insert(wish.ttl, UnderWay { number, grant, asked_at: wish.now, writes: 1 });
        }
    }

    /// Remembers what was granted. Answers how many writes were counted since the grant before.
    pub(crate) fn granted(&mut self, number: u64, wish: Wish, grant: LeaseGrant) -> u64 {
        let writes = self.end(number, wish.ttl);
        // From before the request, so that the lease never ends earlier than is believed.
        let lease =
            Lease { id: grant.id, granted_at: (wish.now, wish.instant), ends: wish.now + grant.ttl, writes };
        self.last.replace(lease).map_or(1, |before| before.writes)
    }

    /// Ends a grant; answers how many writes wait for it.
    pub(crate) fn end(&mut self, number: u64, ttl: Duration) -> u64 {
        match self.under_way.get(&ttl) {
            Some(under_way) if under_way.number == number => {
                self.under_way.remove(&ttl).map_or(1, |of| of.writes)
            }
            // A later grant took its place, since this one was full.
            _ => 1,
        }
    }

    pub(crate) fn forget(&mut self, id: LeaseId) {
        if self.last.as_ref().is_some_and(|lease| lease.id == id) {
            self.last = None;
        }
    }
}
