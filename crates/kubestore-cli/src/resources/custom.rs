//! Custom resources, from their definitions.

use std::borrow::Cow;

use anyhow::{Result, bail};
use kubestore::codec::{Map, Value};

use super::Resource;
use crate::output::{AGE, Cell, Column, JsonPath, NAME};

/// The resource that a `CustomResourceDefinition` defines.
///
/// # Errors
/// Something is missing in it.
pub(super) fn from_definition(definition: &Map) -> Result<Resource> {
    let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let required = |pointer: &str| match text(pointer) {
        "" => bail!(
            "CustomResourceDefinition {:?} has no {}; write it",
            text("/metadata/name"),
            pointer.trim_start_matches('/').replace('/', ".")
        ),
        text => Ok(text.to_owned()),
    };
    let group = required("/spec/group")?;
    let plural = required("/spec/names/plural")?;
    let kind = required("/spec/names/kind")?;
    let singular = match text("/spec/names/singular") {
        "" => kind.to_lowercase(),
        singular => singular.to_owned(),
    };
    let short_names = definition.pointer("/spec/names/shortNames").and_then(Value::as_array);
    let short_names = short_names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let stored = stored_version(definition);
    Ok(Resource {
        key_prefix: format!("/{group}/{plural}"),
        namespaced: required("/spec/scope")? == "Namespaced",
        columns: Cow::Owned(columns(stored)),
        fields: Cow::Borrowed(&[]),
        custom_fields: selectable_fields(stored),
        short_names: short_names.collect(),
        versions: versions(definition),
        is_custom: true,
        group,
        kind,
        plural,
        singular,
    })
}

/// The version that objects are stored in, which says how they are shown.
fn stored_version(definition: &Map) -> Option<&Map> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array)?;
    let versions: Vec<&Map> = versions.iter().filter_map(Value::as_object).collect();
    let is_stored = |version: &&&Map| version.get("storage").and_then(Value::as_bool) == Some(true);
    versions.iter().find(is_stored).or(versions.first()).copied()
}

/// The names of the versions, the stored one first.
fn versions(definition: &Map) -> Vec<String> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let name = |version: &Value| Some(version.get("name")?.as_str()?.to_owned());
    let mut names: Vec<_> = versions.into_iter().flatten().filter_map(name).collect();
    let stored = stored_version(definition).and_then(|version| version.get("name")).and_then(Value::as_str);
    names.sort_by_key(|name| Some(name.as_str()) != stored);
    names
}

fn columns(version: Option<&Map>) -> Vec<Column> {
    let columns =
        version.and_then(|version| version.get("additionalPrinterColumns")).and_then(Value::as_array);
    let mut columns: Vec<Column> =
        columns.into_iter().flatten().filter_map(Value::as_object).filter_map(column).collect();
    if columns.is_empty() {
        columns.push(AGE);
    }
    columns.insert(0, NAME);
    columns
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

fn selectable_fields(version: Option<&Map>) -> Vec<String> {
    let fields = version.and_then(|version| version.get("selectableFields")).and_then(Value::as_array);
    let paths = fields.into_iter().flatten().filter_map(|field| field.get("jsonPath")?.as_str());
    paths.map(|path| path.trim_start_matches('.').to_owned()).collect()
}
