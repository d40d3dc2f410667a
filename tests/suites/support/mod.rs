//! What several suites need.

pub(crate) mod etcd;
