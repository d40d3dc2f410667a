//! Which resources Kubernetes has, what they are called, and where they are kept.

mod builtin;
mod crd;
mod key;
mod name;
mod row;
mod table;
mod types;

pub use crd::InvalidCrd;
pub use key::{InvalidObjectKey, Location};
pub use table::ResourceTable;
pub use types::{InvalidResource, Resource, ResourceScope};
