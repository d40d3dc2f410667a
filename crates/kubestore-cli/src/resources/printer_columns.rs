//! How a custom resource is shown, by its definition.

use std::borrow::Cow;

use kubestore::codec::{Map, Value};

use crate::{
    object,
    output::{AGE, Cell, Column, JsonPath, NAME},
};

/// The columns that a `CustomResourceDefinition` has for the version that is stored: its name and the printer columns, or
/// its age if there are none. Columns with paths of a kind that is not known here are left out.
pub(super) fn of_definition(definition: &Map) -> Vec<Column> {
    // API servers store the older form.
    let definition = &object::definition(definition);
    let columns = stored_version(definition).and_then(|version| version.get("additionalPrinterColumns"));
    let columns = columns.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let mut columns: Vec<Column> = columns.filter_map(column).collect();
    if columns.is_empty() {
        columns.push(AGE);
    }
    columns.insert(0, NAME);
    columns
}

fn stored_version(definition: &Map) -> Option<&Map> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array)?;
    let is_stored = |version: &&Map| version.get("storage").and_then(Value::as_bool) == Some(true);
    versions.iter().filter_map(Value::as_object).find(is_stored)
}

fn column(column: &Map) -> Option<Column> {
    let text = |name: &str| column.get(name).and_then(Value::as_str).unwrap_or_default();
    let path = JsonPath::parse(text("jsonPath"))?;
    Some(Column {
        name: Cow::Owned(text("name").to_uppercase()),
        wide: column.get("priority").and_then(Value::as_i64).unwrap_or(0) > 0,
        cell: if text("type") == "date" { Cell::FoundAge(path) } else { Cell::Found(path) },
    })
}
