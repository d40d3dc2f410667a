//! Objects in any of the encodings that Kubernetes stores.

mod read;
#[cfg(feature = "protobuf")]
mod storage;

pub(crate) use read::{decode, find_fields, skim};
#[cfg(feature = "protobuf")]
pub use storage::{StorageCodec, WriteAs};
