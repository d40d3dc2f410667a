#![doc = include_str!("../README.md")]

mod backend;
mod builder;
mod corrupt;
mod create;
mod delete;
mod error;
mod list;
mod operation;
mod queue;
mod read;
mod selection;
mod state;
mod store;
mod task;
mod update;
mod value;
mod watch;
mod write;

pub use builder::StoreBuilder;
pub use kubestore_lease::LeaseManagerConfig;
pub use queue::UpdateQueue;
pub use store::Store;
