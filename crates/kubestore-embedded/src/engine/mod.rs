//! What readers, watches and the writer share, and how a request reaches the writer.

mod core;
mod expiry;
mod inline;

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use kubestore_kv::Clock;
use tokio::sync::Notify;

pub(crate) use core::Core;
pub(crate) use expiry::Expiry;
use inline::Inline;

use crate::{
    counts::Counts,
    record::Commit,
    state::{Change, State},
    watch::Hub,
};

/// What may be chosen about an engine.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) max_request_bytes: usize,
    pub(crate) progress_interval: Duration,
    #[cfg_attr(not(feature = "durable"), expect(dead_code, reason = "memory has no disk"))]
    pub(crate) reserve_bytes: u64,
}

/// What everybody sees: the published state, and who waits for the next one.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) hub: Hub,
    pub(crate) counts: Counts,
    /// Told when a lease was granted or ended.
    pub(crate) leases_changed: Notify,
    published: ArcSwap<State>,
}

impl Shared {
    pub(crate) fn new(options: Options, state: State) -> Self {
        Self {
            options,
            hub: Hub::default(),
            counts: Counts::default(),
            leases_changed: Notify::new(),
            published: ArcSwap::from_pointee(state),
        }
    }

    /// The newest published state.
    pub(crate) fn snapshot(&self) -> Arc<State> {
        self.published.load_full()
    }

    /// Its revision.
    pub(crate) fn head(&self) -> i64 {
        self.published.load().head
    }

    /// Makes `state`, which `changes` led to, what everybody sees. Only the writer calls it, one at a time.
    pub(crate) fn publish(&self, state: State, changes: &[Change]) {
        let head = state.head;
        self.published.store(Arc::new(state));
        let commits: Vec<Commit> = changes
            .iter()
            .filter_map(|change| match change {
                Change::Commit(commit) => Some(Arc::clone(commit)),
                _ => None,
            })
            .collect();
        if !commits.is_empty() {
            self.hub.notice(&commits, head);
        }
        if changes.iter().any(|change| matches!(change, Change::Granted(..) | Change::Ended(..))) {
            self.leases_changed.notify_one();
        }
    }
}
