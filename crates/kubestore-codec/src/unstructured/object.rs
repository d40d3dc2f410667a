//! `Unstructured` and its accessors.

use std::{fmt, ops};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "protobuf")]
use crate::protobuf::UnknownField;
use crate::value::{Map, NotAnObject, NotJson, Value};

/// A Kubernetes object of any kind: a JSON object of which only the metadata have a meaning.
///
/// It derefs to its [`Map`], which has look-ups, [pointers](Map::pointer) and changes. The accessors read what is not
/// there, or is of another type, as empty; the setters make `metadata` when it is missing and leave it alone when it is
/// not an object. Both as the reference does.
///
/// ```
/// use kubestore_codec::Unstructured;
/// let mut pod = Unstructured::new("v1", "Pod", "ns1", "web");
/// pod.set_pointer("/spec/nodeName", "node-1")?;
/// pod.set_label("app", "web");
/// assert_eq!(pod.name(), "web");
/// assert_eq!(pod.pointer("/metadata/labels/app").and_then(|app| app.as_str()), Some("web"));
/// assert_eq!(format!("{pod:?}"), "Unstructured(v1 Pod ns1/web)");
/// # Ok::<(), kubestore_codec::InvalidPointer>(())
/// ```
///
/// `Debug` shows kind and name and no other content: it may be a secret.
#[derive(Clone, Default)]
pub struct Unstructured {
    map: Map,
    /// It was read from a store without an apiVersion, and may go back there without one.
    versionless: bool,
    /// What was on the wire and is not in the map.
    #[cfg(feature = "protobuf")]
    unknown: Option<std::sync::Arc<[UnknownField]>>,
}

impl Unstructured {
    /// An object with its type and name; the namespace may be empty.
    #[must_use]
    pub fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        let mut object = Self::default();
        object.set_api_version(api_version);
        object.set_kind(kind);
        object.set_name(name);
        object.set_namespace(namespace);
        object
    }

    pub(super) fn decoded(map: Map) -> Self {
        let mut object = Self::from(map);
        object.versionless = object.api_version().is_empty();
        object
    }

    /// Marks it as read without these fields.
    #[cfg(feature = "protobuf")]
    pub(crate) fn without(mut self, unknown: Vec<UnknownField>) -> Self {
        self.unknown = (!unknown.is_empty()).then(|| unknown.into());
        self
    }

    /// Fields of a later version of Kubernetes that were in the stored object and are not in this one. With any of them it is
    /// not written as protobuf again, which would lose them.
    #[cfg(feature = "protobuf")]
    #[must_use]
    pub fn unknown_fields(&self) -> &[UnknownField] {
        self.unknown.as_deref().unwrap_or_default()
    }

    /// Whether it may be written although it has no apiVersion.
    pub(super) fn is_versionless(&self) -> bool {
        self.versionless
    }

    /// The JSON object itself.
    #[must_use]
    pub fn into_map(self) -> Map {
        self.map
    }

    /// A member of the object as text, "" when it is not.
    fn text(&self, key: &str) -> &str {
        self.map.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// `apiVersion`: `v1`, `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> &str {
        self.text("apiVersion")
    }

    /// `kind`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text("kind")
    }

    /// Sets `apiVersion`.
    pub fn set_api_version(&mut self, api_version: &str) {
        self.map.insert("apiVersion", api_version);
    }

    /// Sets `kind`.
    pub fn set_kind(&mut self, kind: &str) {
        self.map.insert("kind", kind);
    }

    /// `metadata`, if it is an object.
    #[must_use]
    pub fn metadata(&self) -> Option<&Map> {
        self.map.get("metadata").and_then(Value::as_object)
    }

    /// `metadata`, made if it is missing; `None` when it is there and not an object.
    pub fn metadata_mut(&mut self) -> Option<&mut Map> {
        if !self.map.contains_key("metadata") {
            self.map.insert("metadata", Map::new());
        }
        self.map.get_mut("metadata").and_then(Value::as_object_mut)
    }

    fn metadata_text(&self, key: &str) -> &str {
        self.metadata().and_then(|metadata| metadata.get(key)).and_then(Value::as_str).unwrap_or_default()
    }

    /// Sets a text of the metadata; an empty one takes it out.
    pub(super) fn set_metadata_text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.metadata_mut().map(|metadata| metadata.insert(key, text));
        } else if let Some(metadata) = self.map.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.remove(key);
        }
    }

    /// `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.metadata_text("name")
    }

    /// `metadata.namespace`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.metadata_text("namespace")
    }

    /// `metadata.uid`.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.metadata_text("uid")
    }

    /// `metadata.resourceVersion`, as text. Stores read it by [`UnstructuredVersioner`](crate::UnstructuredVersioner).
    #[must_use]
    pub fn resource_version(&self) -> &str {
        self.metadata_text("resourceVersion")
    }

    /// Sets `metadata.name`; an empty one takes it out.
    pub fn set_name(&mut self, name: &str) {
        self.set_metadata_text("name", name);
    }

    /// Sets `metadata.namespace`; an empty one takes it out.
    pub fn set_namespace(&mut self, namespace: &str) {
        self.set_metadata_text("namespace", namespace);
    }

    /// Sets `metadata.uid`; an empty one takes it out.
    pub fn set_uid(&mut self, uid: &str) {
        self.set_metadata_text("uid", uid);
    }

    /// Sets `metadata.resourceVersion`; an empty one takes it out.
    pub fn set_resource_version(&mut self, resource_version: &str) {
        self.set_metadata_text("resourceVersion", resource_version);
    }

    /// `metadata.labels`, if all of them are text.
    #[must_use]
    pub fn labels(&self) -> Option<&Map> {
        self.texts("labels")
    }

    /// `metadata.annotations`, if all of them are text.
    #[must_use]
    pub fn annotations(&self) -> Option<&Map> {
        self.texts("annotations")
    }

    fn texts(&self, key: &str) -> Option<&Map> {
        let texts = self.metadata()?.get(key)?.as_object()?;
        texts.iter().all(|(_, value)| value.as_str().is_some()).then_some(texts)
    }

    /// A label, if it is there and all labels are text.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels()?.get(key)?.as_str()
    }

    /// Sets a label. Labels that are not an object are replaced.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.set_text_in("labels", key, value);
    }

    /// Sets an annotation. Annotations that are not an object are replaced.
    pub fn set_annotation(&mut self, key: &str, value: &str) {
        self.set_text_in("annotations", key, value);
    }

    fn set_text_in(&mut self, of: &str, key: &str, value: &str) {
        let Some(metadata) = self.metadata_mut() else { return };
        let texts = metadata.get_or_insert(of);
        if texts.as_object().is_none() {
            *texts = Value::Object(Map::new());
        }
        if let Some(texts) = texts.as_object_mut() {
            texts.insert(key, value);
        }
    }
}

impl ops::Deref for Unstructured {
    type Target = Map;

    fn deref(&self) -> &Map {
        &self.map
    }
}

impl ops::DerefMut for Unstructured {
    fn deref_mut(&mut self) -> &mut Map {
        &mut self.map
    }
}

/// By content.
impl PartialEq for Unstructured {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl fmt::Debug for Unstructured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unstructured({} {} ", self.api_version(), self.kind())?;
        if !self.namespace().is_empty() {
            write!(f, "{}/", self.namespace())?;
        }
        write!(f, "{})", self.name())
    }
}

impl From<Map> for Unstructured {
    fn from(map: Map) -> Self {
        Self { map, ..Self::default() }
    }
}

impl TryFrom<Value> for Unstructured {
    type Error = NotAnObject;

    fn try_from(value: Value) -> Result<Self, NotAnObject> {
        Map::try_from(value).map(Self::from)
    }
}

impl TryFrom<serde_json::Value> for Unstructured {
    type Error = NotAnObject;

    fn try_from(value: serde_json::Value) -> Result<Self, NotAnObject> {
        Self::try_from(Value::from(value))
    }
}

impl TryFrom<&Unstructured> for serde_json::Value {
    type Error = NotJson;

    fn try_from(object: &Unstructured) -> Result<Self, NotJson> {
        Self::try_from(&object.map)
    }
}

impl Serialize for Unstructured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.map.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Unstructured {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Self::from)
    }
}
