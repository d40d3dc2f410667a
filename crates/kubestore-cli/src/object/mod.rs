//! Stored values: what they are, and what is in them.

mod codec;
mod opener;
mod summary;

pub(crate) use codec::{ObjectCodec, decode};
pub(crate) use opener::Opener;
pub(crate) use summary::{Envelope, Summary, encoding};
