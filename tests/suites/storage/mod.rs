//! The store of this project, on each backend.

mod backend;
mod store;
mod tamper;

pub use backend::Backend;
pub use store::StoreOn;
