//! For tests: throw-away etcds and clusters of them, certificates, and a proxy that fails on demand.

mod certificates;
mod cluster;
mod guard;
mod process;
mod program;
mod proxy;
mod setup;

pub use self::{
    certificates::{Identity, TestAuthority},
    cluster::EtcdCluster,
    process::{EtcdProcess, free_address},
    proxy::Proxy,
    setup::EtcdSetup,
};
