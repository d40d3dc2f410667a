//! The storage suite on every backend.

mod support {
    pub mod etcd;
}

mod storage {
    pub mod backend;
    pub mod store;
    pub mod tamper;
}

use storage::{backend::Backend, store::StoreOn};

kubestore_conformance::storage_suite!(memory, crate::StoreOn(crate::Backend::Memory));
kubestore_conformance::storage_suite!(durable, crate::StoreOn(crate::Backend::Durable));
kubestore_conformance::storage_suite!(etcd, crate::StoreOn(crate::Backend::Etcd));
