//! How objects are shown.

mod age;
mod columns;
mod json;
mod out;
mod printer;
mod table;
mod view;
mod yaml;

use clap::ValueEnum;

pub(crate) use columns::{AGE, Cell, Column, DEFAULT, JsonPath, NAME, columns_of};
pub(crate) use printer::{ListMeta, Printer, Style};
pub(crate) use table::Table;
pub(crate) use view::View;

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns, as kubectl has them for the kind.
    Table,
    /// More columns.
    Wide,
    /// The whole object as YAML.
    Yaml,
    /// The whole object as JSON.
    Json,
    /// Resource and name alone.
    Name,
}

impl Format {
    /// Whether it has columns.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }
}
