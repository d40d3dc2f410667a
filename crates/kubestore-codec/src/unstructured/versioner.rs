//! Where an `Unstructured` keeps its resource version.

use std::{borrow::Cow, error::Error, fmt};

use kubestore_core::{BoxError, Found, InvalidResourceVersion, Versioner, Wanted, parse_resource_version};

use super::Unstructured;
use crate::{field::FieldPath, json::field_text, value::Map};

/// The [`Versioner`] of [`Unstructured`] objects: `metadata.resourceVersion`.
///
/// Odd objects are treated as the reference treats them. A resource version that is not text counts as none. When
/// `metadata` is not an object, the version is silently not set. On an object with a member `items`, a list by Kubernetes'
/// rules, it is set *and* an error is returned, so that a read returns it while a watch, which has no event for lists,
/// ends.
///
/// Fields of selectors are paths to scalars. `metadata.name`, `metadata.namespace` and `spec.nodeName` must be text, of all
/// others numbers and truth values count as JSON writes them.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct UnstructuredVersioner;

/// A list where an object is needed.
#[derive(Clone, Copy, Debug)]
struct IsAList;

impl fmt::Display for IsAList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is a list (it has `items`), not an object")
    }
}

impl Error for IsAList {}

impl Versioner<Unstructured> for UnstructuredVersioner {
    fn resource_version(&self, object: &Unstructured) -> Result<u64, InvalidResourceVersion> {
        parse_resource_version(object.resource_version())
    }

    fn set_resource_version(&self, object: &mut Unstructured, resource_version: u64) -> Result<(), BoxError> {
        if resource_version == 0 {
            object.set_resource_version("");
        } else {
            object.set_resource_version(itoa::Buffer::new().format(resource_version));
        }
        if object.contains_key("items") { Err(IsAList.into()) } else { Ok(()) }
    }

    fn prepare_for_storage(&self, object: &mut Unstructured) -> Result<(), BoxError> {
        object.set_resource_version("");
        object.set_metadata_text("selfLink", "");
        Ok(())
    }

    fn uid<'a>(&self, object: &'a Unstructured) -> Cow<'a, str> {
        Cow::Borrowed(object.uid())
    }

    fn find<'a>(&self, object: &'a Unstructured, wanted: &Wanted) -> Found<'a> {
        let mut found = wanted.nothing_found();
        if !wanted.labels.is_empty()
            && let Some(labels) = object.labels()
        {
            for (answer, key) in found.labels.iter_mut().zip(&wanted.labels) {
                *answer = labels.get(key).and_then(|label| label.as_str()).map(Cow::Borrowed);
            }
        }
        for (answer, path) in found.fields.iter_mut().zip(&wanted.fields) {
            *answer = find_field(object, FieldPath::new(path));
        }
        found
    }
}

fn find_field<'a>(map: &'a Map, path: FieldPath<'_>) -> Option<Cow<'a, str>> {
    let mut segments = path.segments();
    let mut value = map.get(segments.next()?)?;
    for segment in segments {
        value = value.get(segment)?;
    }
    field_text(value, path)
}
