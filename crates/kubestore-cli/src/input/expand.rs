//! Lists taken apart.

use anyhow::{Result, bail};
use kubestore::codec::{Array, Map, Value};

use super::{Document, Origin, document::text_of};

/// Adds an object, or the items of a `List` or `PodList`.
pub(super) fn add(origin: Origin, mut object: Map, documents: &mut Vec<Document>) -> Result<()> {
    let is_list = text_of(&object, "kind").ends_with("List") && object.get("items").is_some();
    if !is_list {
        documents.push(Document { origin, object: object.into() });
        return Ok(());
    }
    let items = match object.remove("items") {
        Some(Value::Array(items)) => items,
        Some(Value::Null) => Array::new(),
        _ => bail!("{origin}: items is not a list"),
    };
    for (number, item) in items.into_iter().enumerate() {
        let origin = Origin { item: Some(number), ..origin.clone() };
        let Value::Object(mut item) = item else {
            bail!("{origin}: is not an object; write apiVersion, kind and metadata");
        };
        name_type(&object, &mut item);
        documents.push(Document { origin, object: item.into() });
    }
    Ok(())
}

/// In a list of one kind an item need not repeat what it is.
fn name_type(list: &Map, item: &mut Map) {
    let kind = text_of(list, "kind").trim_end_matches("List");
    if kind.is_empty() || item.get("kind").is_some() || item.get("apiVersion").is_some() {
        return;
    }
    item.insert("kind", kind);
    item.insert("apiVersion", text_of(list, "apiVersion"));
}
