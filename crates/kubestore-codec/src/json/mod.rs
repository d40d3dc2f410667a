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
pub(crate) use skim::{Paths, field_text, skim};
pub(crate) use text::go_text;
pub(crate) use write::write_map;
