#![doc = include_str!("../README.md")]

mod backoff;
mod builder;
mod call;
mod convert;
mod error;
mod history;
mod kv;
mod lease;
mod maintenance;
mod options;
mod pages;
mod pool;
mod read;
#[cfg(feature = "testing")]
pub mod testing;
mod version;
mod watch;
mod write;

pub use builder::EtcdKvBuilder;
pub use kv::EtcdKv;
