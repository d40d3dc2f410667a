//! What several suites need.

pub mod etcd;
