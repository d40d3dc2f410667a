//! The one error of the storage trait.

mod construct;
mod corrupt_objects;
mod kind;
mod status;
mod storage_error;

pub use corrupt_objects::CorruptObjects;
pub use kind::ErrorKind;
pub use status::{Status, StatusCause};
pub use storage_error::StorageError;

/// A cause of any type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
