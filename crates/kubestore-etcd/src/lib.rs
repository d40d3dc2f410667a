#![doc = include_str!("../README.md")]

mod auth;
mod backoff;
mod builder;
mod call;
mod channel;
mod connect;
mod convert;
mod error;
mod etcdctl;
mod health;
mod history;
mod kv;
mod lease;
mod maintenance;
mod options;
mod pages;
mod pool;
mod read;
mod stream;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(any(feature = "tls", feature = "tls-aws-lc"))]
mod tls;
mod tls_options;
mod version;
mod watch;
mod write;

pub use builder::EtcdKvBuilder;
pub use etcdctl::EtcdctlOptions;
pub use kv::EtcdKv;
pub use tls_options::TlsOptions;
