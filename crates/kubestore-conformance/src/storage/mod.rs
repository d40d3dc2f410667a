//! The storage suite: what any [`Storage`](kubestore_core::Storage) must do, one public function per case.
//!
//! The cases are those that Kubernetes runs on its own stores (`RunTestCreateWithTTL` is
//! [`create::create_with_ttl`]), so that a row of its tests can be looked up here by name. Where a case of theirs tells how
//! Go cancels, ours tells the same of dropping.
//!
//! [`storage_suite!`](crate::storage_suite) makes a test of each.

pub mod create;
pub mod delete;
pub mod list;
pub mod pages;
pub mod update;
pub mod watch;
pub mod watch_bookmarks;
pub mod watch_selectors;

mod cases;
mod events;
mod fixture;
mod harness;
mod pod;
mod seed;

pub use harness::{Action, Reads, StorageHarness, StoreInstance, StoreOptions, Tampering};
pub use pod::{Pod, PodCodec, PodVersioner};
