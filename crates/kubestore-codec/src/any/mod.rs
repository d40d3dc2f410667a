//! Objects in any of the encodings that Kubernetes stores.

mod read;

pub(crate) use read::{decode, find_fields, skim};
