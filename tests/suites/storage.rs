//! The storage suite on every backend.

mod support;

#[path = "storage/mod.rs"]
mod store_harness;

use store_harness::{Backend, StoreOn};

kubestore_conformance::storage_suite!(memory, crate::StoreOn(crate::Backend::Memory));
kubestore_conformance::storage_suite!(durable, crate::StoreOn(crate::Backend::Durable));
kubestore_conformance::storage_suite!(etcd, crate::StoreOn(crate::Backend::Etcd));
