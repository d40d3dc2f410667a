//! JSON as Kubernetes reads and writes it.

mod canonical;
mod cursor;
mod number;
mod parse;
mod scan;
mod skim;
mod text;
mod write;

pub(crate) use canonical::canonical;
pub(crate) use parse::parse;
#[cfg(feature = "cbor")]
pub(crate) use skim::{Mask, Scalar, Skimmed};
pub(crate) use skim::{Paths, field_text, skim};
pub(crate) use text::go_text;
#[cfg(feature = "cbor")]
pub(crate) use write::scalar_text;
pub(crate) use write::write_map;
#[cfg(feature = "protobuf")]
pub(crate) use write::write_value;
