//! What stores do with the metadata of `k8s-openapi`.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubestore_core::{Found, InvalidResourceVersion, Wanted, parse_resource_version};
use serde::Serialize;

use super::find::find_in_serialised;

pub(super) fn resource_version(metadata: &ObjectMeta) -> Result<u64, InvalidResourceVersion> {
    parse_resource_version(metadata.resource_version.as_deref().unwrap_or_default())
}

pub(super) fn set_resource_version(metadata: &mut ObjectMeta, resource_version: u64) {
    metadata.resource_version = (resource_version != 0).then(|| resource_version.to_string());
}

pub(super) fn prepare_for_storage(metadata: &mut ObjectMeta) {
    metadata.resource_version = None;
    metadata.self_link = None;
}

pub(super) fn uid(metadata: &ObjectMeta) -> Cow<'_, str> {
    Cow::Borrowed(metadata.uid.as_deref().unwrap_or_default())
}

pub(super) fn find<'a, T: Serialize>(object: &'a T, metadata: &'a ObjectMeta, wanted: &Wanted) -> Found<'a> {
    let mut found = wanted.nothing_found();
    for (answer, key) in found.labels.iter_mut().zip(&wanted.labels) {
        let label = metadata.labels.as_ref().and_then(|labels| labels.get(key));
        *answer = label.map(|label| Cow::Borrowed(label.as_str()));
    }
    for (answer, path) in found.fields.iter_mut().zip(&wanted.fields) {
        *answer = match path.as_str() {
            "metadata.name" => metadata.name.as_deref().map(Cow::Borrowed),
            "metadata.namespace" => metadata.namespace.as_deref().map(Cow::Borrowed),
            _ => None,
        };
    }
    find_in_serialised(object, &wanted.fields, &mut found.fields);
    found
}
