//! The store of this project, on each backend.

mod backend;
mod store;
mod tamper;

pub(crate) use backend::Backend;
pub(crate) use store::StoreOn;
