//! The key-value suite on every backend.

#[path = "kv/durable.rs"]
mod durable_harness;
#[path = "kv/etcd.rs"]
mod etcd_harness;
#[path = "kv/memory.rs"]
mod memory_harness;

mod support;

kubestore_conformance::kv_suite!(
    memory,
    crate::memory_harness::Memory,
    skip(restart_keeps_acknowledged_writes, "memory ends with its process"),
    skip(restart_keeps_the_history_for_watches, "memory ends with its process"),
    skip(restart_keeps_the_compaction, "memory ends with its process"),
    skip(restart_keeps_leases, "memory ends with its process"),
);

kubestore_conformance::kv_suite!(durable, crate::durable_harness::Durable);

kubestore_conformance::kv_suite!(etcd, crate::etcd_harness::Etcd);
