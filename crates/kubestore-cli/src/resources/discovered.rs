//! Resources that nothing defines, found by their keys.

use anyhow::Result;
use bytes::Bytes;
use kubestore::{
    codec::{self, ResourceScope, ResourceTable},
    kv::{GetRequest, Kv, ListRequest},
};

use crate::object::{Opener, Summary};

/// A resource, and the key below which its objects are if that is not where a custom resource has them.
pub(super) struct Found {
    pub(super) resource: codec::Resource,
    pub(super) place: Option<String>,
}

/// Where API servers keep objects of a resource that is not built in.
struct Place {
    /// "" if it is not in the keys.
    group: String,
    plural: String,
    scope: ResourceScope,
    /// One of them.
    example: Bytes,
}

/// Finds all resources below the prefix that are not built in. Takes a read or two for each resource, not for each object.
///
/// # Errors
/// The store does not answer.
pub(super) async fn all(kv: &dyn Kv, prefix: &str, opener: &Opener) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let mut start = Bytes::copy_from_slice(prefix.as_bytes());
    loop {
        let request = ListRequest::new(prefix.to_owned()).from_key(start).limit(1).keys_only();
        let Some(first) = kv.list(request).await?.kvs.pop() else { return Ok(found) };
        let (place, next) = look(prefix, &first.key);
        if let Some(place) = place {
            found.extend(resource(kv, opener, place).await?);
        }
        start = next;
    }
}

/// What a key shows, and where to look next.
fn look(prefix: &str, key: &Bytes) -> (Option<Place>, Bytes) {
    // The first key after all that are below a path.
    let after = |path: &str| Bytes::from(format!("{prefix}{path}0"));
    let right_after = || Bytes::from([key, &b"\0"[..]].concat());
    let text = std::str::from_utf8(key).ok().and_then(|key| Some((key, key.strip_prefix(prefix)?)));
    let Some((whole, rest)) = text else { return (None, right_after()) };
    let segments: Vec<_> = rest.split('/').collect();
    let (group, plural, names) = match segments.as_slice() {
        [group, plural, names @ ..] if group.contains('.') && !names.is_empty() => (*group, *plural, names),
        [plural, names @ ..] if !plural.contains('.') && !names.is_empty() => ("", *plural, names),
        _ => return (None, right_after()),
    };
    let path = if group.is_empty() { plural.to_owned() } else { format!("{group}/{plural}") };
    let is_builtin = ResourceTable::builtin().locate(prefix, whole).is_some_and(|at| at.resource.is_some());
    let scope = match names {
        _ if is_builtin => None,
        [_] => Some(ResourceScope::Cluster),
        [_, _] => Some(ResourceScope::Namespaced),
        _ => None,
    };
    let place = scope.map(|scope| Place {
        group: group.to_owned(),
        plural: plural.to_owned(),
        scope,
        example: key.clone(),
    });
    (place, after(&path))
}

/// The resource at a place; what the keys do not say is read from an object.
async fn resource(kv: &dyn Kv, opener: &Opener, place: Place) -> Result<Option<Found>> {
    let summary = match kv.get(GetRequest::new(place.example)).await?.kv {
        Some(kv) => match opener.open(&kv.key, kv.value).await {
            Ok(opened) => Summary::of(&opened.data),
            Err(_) => Summary::default(),
        },
        None => Summary::default(),
    };
    let (group, version) = match summary.api_version.split_once('/') {
        Some((group, version)) if place.group.is_empty() => (group, version),
        Some((_, version)) => (place.group.as_str(), version),
        None => (place.group.as_str(), "v1"),
    };
    // A value that cannot be opened does not say its kind; the name of the resource will do.
    let kind = if summary.kind.is_empty() { &place.plural } else { &summary.kind };
    let resource = match codec::Resource::custom(group, version, kind, &place.plural, place.scope) {
        Ok(resource) => resource,
        Err(error) => {
            tracing::warn!(plural = place.plural, %error, "keys of an unknown resource are left out");
            return Ok(None);
        }
    };
    let elsewhere = place.group.is_empty().then(|| format!("/{}", place.plural));
    Ok(Some(Found { resource, place: elsewhere }))
}
