//! Stored values: what they are, and what is in them.

mod codec;
mod opener;
mod served;
mod summary;

pub(crate) use codec::{ObjectCodec, unknown_fields};
pub(crate) use opener::Opener;
pub(crate) use served::{as_served, definition};
pub(crate) use summary::{Envelope, Summary, encoding};
