//! Handing out leases.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use kubestore_kv::{Clock, Kv, KvError, KvErrorKind, LeaseId, MAX_LEASE_TTL};
use kubestore_metrics::{Event, Recorder};

use crate::{
    LeaseManagerConfig,
    grant::{SharedGrant, own},
    state::{State, Wish},
};

/// Hands out leases, one for several writes of nearly the same TTL. Clones share their state.
#[derive(Clone)]
pub struct LeaseManager(Arc<Inner>);

struct Inner {
    kv: Arc<dyn Kv>,
    clock: Arc<dyn Clock>,
    config: LeaseManagerConfig,
    recorder: Arc<dyn Recorder>,
    state: Mutex<State>,
}

impl LeaseManager {
    /// A manager that asks `kv` for leases. `recorder` gets [`Event::LeaseObjects`] at every grant.
    #[must_use]
    pub fn new(
        kv: Arc<dyn Kv>,
        clock: Arc<dyn Clock>,
        config: LeaseManagerConfig,
        recorder: Arc<dyn Recorder>,
    ) -> Self {
        Self(Arc::new(Inner { kv, clock, config, recorder, state: Mutex::default() }))
    }

    /// A lease for one write, which lives at least `ttl_seconds`, and longer by at most the slack. The write counts for
    /// the lease whether it succeeds or not.
    ///
    /// # Cancellation
    /// Dropping the future does not disturb others that wait for the same grant. If nobody does, a lease may be left
    /// that nothing uses, until it ends.
    ///
    /// # Errors
    /// [`InvalidArgument`](KvErrorKind::InvalidArgument) for a TTL of 0, or one that with its slack is above
    /// [`MAX_LEASE_TTL`]; nothing is asked of the backend then. Else what the backend says; all who waited for the
    /// same grant get the same error.
    pub async fn get_lease(&self, ttl_seconds: u64) -> Result<LeaseId, KvError> {
        let inner = &self.0;
        let slack = inner.config.slack(ttl_seconds);
        check(ttl_seconds, slack)?;
        let wish = Wish {
            now: inner.clock.now(),
            instant: Instant::now(),
            ttl: Duration::from_secs(ttl_seconds),
            slack: Duration::from_secs(slack),
            most: inner.config.objects_per_lease(),
        };
        let grant = {
            let mut state = inner.state();
            if let Some(lease) = state.reuse(wish) {
                return Ok(lease);
            }
            match state.join(wish) {
                Some(grant) => grant,
                None => self.start(&mut state, wish),
            }
        };
        grant.await.map_err(own)
    }

    /// Drops a lease that the backend no longer knows, so that the next call is granted a new one. Does nothing if it
    /// is not the last one handed out.
    pub fn forget(&self, lease: LeaseId) {
        self.0.state().forget(lease);
    }

    fn start(&self, state: &mut State, wish: Wish) -> SharedGrant {
        let (inner, number) = (Arc::clone(&self.0), state.begin());
        let grant = async move { inner.grant(number, wish).await.map_err(Arc::new) }.boxed().shared();
        state.share(number, wish, &grant);
        grant
    }
}

impl Inner {
    async fn grant(&self, number: u64, wish: Wish) -> Result<LeaseId, KvError> {
        match self.kv.grant_lease(wish.ttl + wish.slack).await {
            Ok(grant) => {
                let count = self.state().granted(number, wish, grant);
                self.recorder.record(Event::LeaseObjects { count });
                Ok(grant.id)
            }
            Err(error) => {
                self.state().end(number, wish.ttl);
                Err(error)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LeaseManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseManager")
            .field("config", &self.0.config)
            .field("state", &*self.0.state())
            .finish_non_exhaustive()
    }
}

/// Refuses what the backend would refuse, or what does not even fit into the request.
fn check(ttl: u64, slack: u64) -> Result<(), KvError> {
    let longest = MAX_LEASE_TTL.as_secs();
    let message = if ttl == 0 {
        "a TTL of 0 seconds is none; write without a lease".to_owned()
    } else if ttl.saturating_add(slack) > longest {
        format!(
            "a TTL of {ttl} seconds with {slack} of slack is above the longest of a lease, {longest}; give a shorter \
             one or none"
        )
    } else {
        return Ok(());
    };
    Err(KvError::new(KvErrorKind::InvalidArgument, "grant_lease", message))
}
