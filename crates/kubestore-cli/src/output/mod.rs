//! How objects are shown.

mod age;
mod columns;
mod json;
mod out;
mod printer;
mod table;
mod view;
mod yaml;

use std::io;

use clap::ValueEnum;
use kubestore::codec::Map;

pub(crate) use age::span;
pub(crate) use columns::{AGE, Cell, Column, DEFAULT, JsonPath, NAME, columns_of};
pub(crate) use printer::{ListMeta, Printer, Style};
pub(crate) use table::Table;
pub(crate) use view::View;

/// An object as YAML, as it is printed by itself.
pub(crate) fn to_yaml(object: &Map) -> String {
    let mut text = String::new();
    yaml::object(&mut text, object, 0);
    text
}

/// An object as JSON, as it is printed by itself.
///
/// # Errors
/// It has a number that JSON has not.
pub(crate) fn to_json(object: &Map) -> io::Result<Vec<u8>> {
    json::object(object)
}

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
