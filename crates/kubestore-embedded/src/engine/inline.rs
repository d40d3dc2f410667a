//! The writer of the memory form: whoever writes, under a lock.

use std::sync::{Mutex, PoisonError};

use kubestore_kv::KvError;

use super::Shared;
use crate::state::{Done, Op, State};

/// Versions forgotten along with a write while a compaction is unfinished.
const CLEAN_WITH_WRITE: usize = 64;
/// Versions forgotten in one turn of the lock by the compaction itself.
const CLEAN_STEP: usize = 1024;

/// Decides one request at a time on the published state.
#[derive(Debug, Default)]
pub(super) struct Inline {
    turn: Mutex<()>,
}

impl Inline {
    pub(super) fn submit(&self, shared: &Shared, op: Op) -> Result<Done, KvError> {
        // A panic cannot have left anything half done: what is published is published whole.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = State::clone(&shared.snapshot());
        let mut changes = Vec::with_capacity(1);
        let done = state.apply(op, shared.options.clock.now(), &mut changes)?;
        if !changes.is_empty() {
            if state.has_garbage() {
                state.clean(CLEAN_WITH_WRITE, &mut changes);
            }
            shared.publish(state, &changes);
        }
        Ok(done)
    }

    /// Forgets what the last compaction made unreachable, a step at a time. When the future is dropped, later writes
    /// finish it.
    pub(super) async fn clean(&self, shared: &Shared) {
        while self.clean_step(shared) {
            tokio::task::yield_now().await;
        }
    }

    fn clean_step(&self, shared: &Shared) -> bool {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = State::clone(&shared.snapshot());
        if !state.has_garbage() {
            return false;
        }
        state.clean(CLEAN_STEP, &mut Vec::new());
        let more = state.has_garbage();
        shared.publish(state, &[]);
        more
    }
}
