//! Keys and values byte for byte, out of one backend and into another.

mod export;
mod format;
mod import;
mod lines;
mod options;
mod report;

pub use export::export;
pub use format::EXPORT_FORMAT;
pub use import::import;
pub use options::{ExportOptions, ImportLeases, ImportOptions};
pub use report::{ImportReport, Skipped};
