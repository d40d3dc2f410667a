//! Histories: what clients asked of a backend and were told, and whether a backend that keeps its promises could have
//! told it.
//!
//! A [`Historian`] writes down what goes through the [`HistoryKv`]s that it gives to clients: when each operation began and
//! ended, and what came of it, "nobody knows" included; and what each watch was told. [`History::check`] then judges:
//!
//! - **Order.** Every answer carries a revision. If one operation ended before another began, its revision comes first, on
//!   whatever keys and members. No two writes share a revision, and no event or progress is told before its time.
//! - **Each key alone.** The operations on a key are those of one register that takes one write after the other. The order of
//!   what was answered is known from the revisions; a search finds where the writes of unknown outcome went, if anywhere:
//!   one may have been applied at any time after it was sent, also long after its client gave up. A list is a read of each key
//!   of its range, all at one revision; so is a read of the past.
//! - **Each watch.** Order by revision, no gap, no repeat, nothing from outside its range or from before its start, the right
//!   previous values, and nothing more at or below a revision of which it was told that all is said.
//!
//! That is linearizability of the whole, not of single keys only, since revisions are common to all keys.
//!
//! An answer other than [`OutcomeUnknown`](kubestore_kv::KvErrorKind::OutcomeUnknown) is taken at its word: a write that was
//! refused has not happened. Values tell writes apart, so clients should write a different one each time.
//!
//! ```
//! use std::sync::Arc;
//! use kubestore_conformance::history::Historian;
//! use kubestore_kv::{GetRequest, Kv, KvError, PutRequest};
//!
//! async fn keeps_its_promises(backend: Arc<dyn Kv>) -> Result<(), KvError> {
//!     let historian = Historian::new();
//!     let (writer, reader) = (historian.client(Arc::clone(&backend)), historian.client(backend));
//!     let (written, read) = tokio::join!(
//!         writer.optimistic_put(PutRequest::create("/a", "1")),
//!         reader.get(GetRequest::new("/a")),
//!     );
//!     (written?, read?);
//!     let report = historian.history().check();
//!     assert!(report.is_clean(), "{report}");
//!     Ok(())
//! }
//! ```

mod attempt;
mod check;
mod historian;
mod history_kv;
mod key;
mod order;
mod register;
mod report;
mod search;
mod truth;
mod watches;

pub use attempt::{Answer, Asked, Attempt, History, Moment, Told, WatchEnd, WatchRecord};
pub use historian::Historian;
pub use history_kv::HistoryKv;
pub use report::{Report, Violation, ViolationKind};
