//! bbolt's file format: pages, and trees of them.

mod meta;
mod page;
mod tree;

pub(crate) use meta::Meta;
pub(crate) use page::Element;
pub(crate) use tree::Tree;
