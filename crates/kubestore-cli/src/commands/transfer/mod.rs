//! Whole key spaces: checked, taken out, put in.

mod check;
mod export;
mod import;

pub(super) use check::run as check;
pub(super) use export::run as export;
pub(super) use import::run as import;
