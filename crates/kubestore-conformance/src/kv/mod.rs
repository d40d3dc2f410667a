//! The key-value suite: what any [`Kv`](kubestore_kv::Kv) must do, one public function per case.
//!
//! [`kv_suite!`](crate::kv_suite) makes a test of each; a case can also be called by itself. A case panics when the
//! backend does not do what it must, with the backend's name, key and revision in the text.

pub mod chunks;
pub mod compact;
pub mod concurrency;
pub mod delete;
pub mod get;
pub mod lease;
pub mod limits;
pub mod list;
pub mod put;
pub mod restart;
pub mod watch;
pub mod watch_group;
pub mod watch_history;

mod cases;
pub(crate) mod fixture;
mod watcher;
