//! Metadata for types of one's own.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use kubestore_core::{
    BoxError, Found, InvalidResourceVersion, Object, Versioner, Wanted, parse_resource_version,
};
use serde::{Deserialize, Serialize};

use super::find::find_in_serialised;
use crate::value::Map;

/// The metadata of an object: what stores look at, and the rest as it is.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ObjectMetadata {
    /// The name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The namespace, "" for objects of the cluster.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The UID, "" for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The resource version, "" for none. Stores set it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Everything else: creation time, finalizers, owners.
    #[serde(flatten)]
    pub other: Map,
}

impl ObjectMetadata {
    /// Of a new object. The namespace may be empty.
    #[must_use]
    pub fn named(namespace: &str, name: &str) -> Self {
        Self { name: name.to_owned(), namespace: namespace.to_owned(), ..Self::default() }
    }
}

/// Shows namespace and name.
impl fmt::Debug for ObjectMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectMetadata({}/{})", self.namespace, self.name)
    }
}

/// A type that has [`ObjectMetadata`].
pub trait HasMetadata {
    /// The metadata.
    fn metadata(&self) -> &ObjectMetadata;

    /// The metadata, to change.
    fn metadata_mut(&mut self) -> &mut ObjectMetadata;
}

/// The [`Versioner`] of types that have [`ObjectMetadata`].
///
/// Fields of selectors are paths in the serialised object.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct MetadataVersioner;

impl<T: Object + HasMetadata + Serialize> Versioner<T> for MetadataVersioner {
    fn resource_version(&self, object: &T) -> Result<u64, InvalidResourceVersion> {
        parse_resource_version(&object.metadata().resource_version)
    }

    fn set_resource_version(&self, object: &mut T, resource_version: u64) -> Result<(), BoxError> {
        object.metadata_mut().resource_version =
            if resource_version == 0 { String::new() } else { resource_version.to_string() };
        Ok(())
    }

    fn prepare_for_storage(&self, object: &mut T) -> Result<(), BoxError> {
        let metadata = object.metadata_mut();
        metadata.resource_version.clear();
        metadata.other.remove("selfLink");
        Ok(())
    }

    fn uid<'a>(&self, object: &'a T) -> Cow<'a, str> {
        Cow::Borrowed(&object.metadata().uid)
    }

    fn find<'a>(&self, object: &'a T, wanted: &Wanted) -> Found<'a> {
        let metadata = object.metadata();
        let mut found = wanted.nothing_found();
        for (answer, key) in found.labels.iter_mut().zip(&wanted.labels) {
            *answer = metadata.labels.get(key).map(|label| Cow::Borrowed(label.as_str()));
        }
        for (answer, path) in found.fields.iter_mut().zip(&wanted.fields) {
            let text = match path.as_str() {
                "metadata.name" => &metadata.name,
                "metadata.namespace" => &metadata.namespace,
                _ => continue,
            };
            *answer = Some(text).filter(|text| !text.is_empty()).map(|text| Cow::Borrowed(text.as_str()));
        }
        find_in_serialised(object, &wanted.fields, &mut found.fields);
        found
    }
}
