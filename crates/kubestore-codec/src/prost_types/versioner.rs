//! Where types of `k8s-pb` keep their resource version.

use std::{borrow::Cow, error::Error, fmt};

use k8s_pb::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubestore_core::{
    BoxError, Codec as _, Found, InvalidResourceVersion, Object, Versioner, Wanted, parse_resource_version,
};
use prost::Message;

use super::ProstCodec;
use crate::{Unstructured, UnstructuredVersioner, field::FieldPath, protobuf};

/// The [`Versioner`] of types of `k8s-pb`.
///
/// An object has to have `metadata` to be stored, if only the default, since the resource version goes there. Fields of
/// selectors are paths in the object as JSON.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct K8sPbVersioner;

/// An object that has no place for a resource version.
#[derive(Clone, Copy, Debug)]
struct NoMetadata;

impl fmt::Display for NoMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object has no metadata: set its name at least")
    }
}

impl Error for NoMetadata {}

impl<T: Object + Message + Default + k8s_pb::Metadata<Ty = ObjectMeta>> Versioner<T> for K8sPbVersioner {
    fn resource_version(&self, object: &T) -> Result<u64, InvalidResourceVersion> {
        let metadata = object.metadata();
        let text = metadata.and_then(|metadata| metadata.resource_version.as_deref());
        parse_resource_version(text.unwrap_or_default())
    }

    fn set_resource_version(&self, object: &mut T, resource_version: u64) -> Result<(), BoxError> {
        let metadata = object.metadata_mut().ok_or(NoMetadata)?;
        // Set and empty, as API servers write it.
        metadata.resource_version =
            Some(if resource_version == 0 { String::new() } else { resource_version.to_string() });
        Ok(())
    }

    fn prepare_for_storage(&self, object: &mut T) -> Result<(), BoxError> {
        let metadata = object.metadata_mut().ok_or(NoMetadata)?;
        metadata.resource_version = Some(String::new());
        metadata.self_link = Some(String::new());
        Ok(())
    }

    fn uid<'a>(&self, object: &'a T) -> Cow<'a, str> {
        Cow::Borrowed(object.metadata().and_then(|metadata| metadata.uid.as_deref()).unwrap_or_default())
    }

    fn find<'a>(&self, object: &'a T, wanted: &Wanted) -> Found<'a> {
        let mut found = wanted.nothing_found();
        let metadata = object.metadata();
        for (answer, key) in found.labels.iter_mut().zip(&wanted.labels) {
            let label = metadata.and_then(|metadata| metadata.labels.get(key));
            *answer = label.map(|label| Cow::Borrowed(label.as_str()));
        }
        if wanted.fields.iter().any(|path| !FieldPath::new(path).is_metadata()) {
            let whole = as_json(object);
            let fields = UnstructuredVersioner.find(&whole, wanted).fields.into_iter();
            found.fields = fields.map(|text| text.map(|text| text.into_owned().into())).collect();
            return found;
        }
        for (answer, path) in found.fields.iter_mut().zip(&wanted.fields) {
            let text = metadata.and_then(|metadata| match path.as_str() {
                "metadata.name" => metadata.name.as_deref(),
                _ => metadata.namespace.as_deref(),
            });
            *answer = text.filter(|text| !text.is_empty()).map(Cow::Borrowed);
        }
        found
    }
}

/// The object in the shape of JSON; nothing of a type that is not among those of Kubernetes.
fn as_json<T: Object + Message + Default + k8s_pb::Resource>(object: &T) -> Unstructured {
    let stored = ProstCodec::<T>::new().encode(object);
    stored.ok().and_then(|stored| protobuf::from_slice(&stored).ok()).unwrap_or_default()
}
