//! What the storage suite stores.

use std::{borrow::Cow, collections::BTreeMap};

use bytes::Bytes;
use kubestore_core::{
    BoxError, Codec, CodecError, Found, InvalidResourceVersion, Versioner, Wanted, parse_resource_version,
};
use serde::{Deserialize, Serialize};

/// The suite's object: as much of a pod as the cases need, flat.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// Its namespace, "" for none.
    pub namespace: String,
    /// Its UID.
    pub uid: String,
    /// Its resource version, never stored.
    pub resource_version: String,
    /// Its self link, never stored.
    pub self_link: String,
    /// Counted up by some cases.
    pub generation: i64,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// The field `spec.nodeName`.
    pub node_name: String,
    /// The field `status.phase`.
    pub phase: String,
}

impl Pod {
    /// A pod with nothing but its name.
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { name: name.to_owned(), namespace: namespace.to_owned(), ..Self::default() }
    }

    /// The key it is stored under.
    #[must_use]
    pub fn key(&self) -> String {
        if self.namespace.is_empty() {
            format!("/pods/{}", self.name)
        } else {
            format!("/pods/{}/{}", self.namespace, self.name)
        }
    }

    pub(crate) fn version(&self) -> u64 {
        parse_resource_version(&self.resource_version).unwrap_or_default()
    }

    pub(crate) fn labelled(mut self, key: &str, value: &str) -> Self {
        self.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn annotated(mut self, key: &str, value: &str) -> Self {
        self.annotations.insert(key.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn with_uid(mut self, uid: &str) -> Self {
        uid.clone_into(&mut self.uid);
        self
    }

    pub(crate) fn on_node(mut self, node: &str) -> Self {
        node.clone_into(&mut self.node_name);
        self
    }

    pub(crate) fn running(mut self) -> Self {
        "Running".clone_into(&mut self.phase);
        self
    }

    /// The same with another resource version.
    pub(crate) fn at(mut self, version: &str) -> Self {
        version.clone_into(&mut self.resource_version);
        self
    }
}

/// Writes [`Pod`]s as JSON. White space around a stored pod is tolerated, and never written.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct PodCodec;

impl Codec<Pod> for PodCodec {
    fn encode(&self, object: &Pod) -> Result<Bytes, CodecError> {
        let json = serde_json::to_vec(object);
        json.map(Bytes::from).map_err(|cause| CodecError::new("the pod cannot be written").with_source(cause))
    }

    fn decode(&self, data: Bytes) -> Result<Pod, CodecError> {
        serde_json::from_slice(&data).map_err(|cause| CodecError::new("this is not a pod").with_source(cause))
    }

    fn skim<'a>(&self, _data: &'a [u8], _wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        Ok(None)
    }
}

/// Knows where a [`Pod`] keeps what a store asks for.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct PodVersioner;

impl Versioner<Pod> for PodVersioner {
    fn resource_version(&self, object: &Pod) -> Result<u64, InvalidResourceVersion> {
        parse_resource_version(&object.resource_version)
    }

    fn set_resource_version(&self, object: &mut Pod, resource_version: u64) -> Result<(), BoxError> {
        object.resource_version =
            if resource_version == 0 { String::new() } else { resource_version.to_string() };
        Ok(())
    }

    fn prepare_for_storage(&self, object: &mut Pod) -> Result<(), BoxError> {
        object.resource_version.clear();
        object.self_link.clear();
        Ok(())
    }

    fn uid<'a>(&self, object: &'a Pod) -> Cow<'a, str> {
        Cow::Borrowed(&object.uid)
    }

    fn find<'a>(&self, object: &'a Pod, wanted: &Wanted) -> Found<'a> {
        let mut found = wanted.nothing_found();
        for (slot, key) in wanted.labels.iter().enumerate() {
            found.labels[slot] = object.labels.get(key).map(|value| Cow::Borrowed(value.as_str()));
        }
        for (slot, path) in wanted.fields.iter().enumerate() {
            let value = match path.as_str() {
                "metadata.name" => &object.name,
                "metadata.namespace" => &object.namespace,
                "spec.nodeName" => &object.node_name,
                "status.phase" => &object.phase,
                _ => continue,
            };
            found.fields[slot] = Some(Cow::Borrowed(value));
        }
        found
    }
}
