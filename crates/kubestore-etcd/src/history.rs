//! Noticing that the server's history went back, as after a restore from an older state.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use kubestore_kv::Revision;

/// The newest revision that any answer told.
///
/// Answers of the cluster as a whole never tell an older one than an answer that came before the question. When one
/// does, revisions are being used again: caches and watches of everybody are off until they read anew.
#[derive(Debug, Default)]
pub(crate) struct History {
    newest: AtomicI64,
    reported: AtomicBool,
}

impl History {
    /// To be asked before a request is sent.
    pub(crate) fn newest(&self) -> Revision {
        Revision(self.newest.load(Ordering::Relaxed))
    }

    /// Takes in the head that an answer told, and warns once if it is older than what was known `before` the request.
    pub(crate) fn observe(&self, before: Revision, head: Revision) {
        self.newest.fetch_max(head.0, Ordering::Relaxed);
        if self.went_back(before, head) {
            tracing::warn!(
                known = before.0,
                head = head.0,
                "the server's newest revision went back; was it restored from an older state? Whoever keeps revisions \
                 has to read anew"
            );
        }
    }

    fn went_back(&self, before: Revision, head: Revision) -> bool {
        // A server without a head to tell says 0.
        head.0 > 0 && head < before && !self.reported.swap(true, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_back_is_reported_once_and_late_answers_are_none() {
        let history = History::default();
        let early = history.newest();
        history.observe(early, Revision(10));
        assert_eq!(history.newest(), Revision(10));
        assert!(!history.went_back(Revision(10), Revision(0)));
        // Asked before the other answer came.
        assert!(!history.went_back(early, Revision(9)));
        assert!(!history.went_back(Revision(10), Revision(10)));
        assert!(history.went_back(Revision(10), Revision(9)));
        assert!(!history.went_back(Revision(10), Revision(9)));
    }
}
