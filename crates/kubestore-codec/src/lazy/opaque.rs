//! Objects of which only the metadata are read.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use kubestore_core::{BoxError, Codec, CodecError, Found, InvalidResourceVersion, Versioner, Wanted};

use super::head::Head;
use crate::any;

/// A stored object of any kind and encoding: its metadata can be read and selected by, its body is kept as bytes.
///
/// For what looks at many objects and into few: caches of metadata, garbage collection, counts by label. It is written back
/// byte for byte. What is not offered here, [`decode`](Self::decode) reads.
///
/// ```
/// use bytes::Bytes;
/// use kubestore_codec::{OpaqueCodec, Unstructured};
/// use kubestore_core::Codec;
///
/// let stored = Bytes::from_static(
///     br#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"shop"}},"spec":{"nodeName":"n1"}}"#,
/// );
/// let pod = OpaqueCodec.decode(stored.clone())?;
/// assert_eq!((pod.kind(), pod.name(), pod.label("app")), ("Pod", "web", Some("shop")));
/// assert_eq!(OpaqueCodec.encode(&pod)?, stored);
/// let whole: Unstructured = pod.decode()?;
/// assert_eq!(whole.pointer("/spec/nodeName").and_then(|node| node.as_str()), Some("n1"));
/// # Ok::<(), kubestore_core::CodecError>(())
/// ```
///
/// `Debug` shows kind and name and no other content: it may be a secret.
#[derive(Clone)]
pub struct Opaque {
    head: Head,
    resource_version: u64,
}

impl Opaque {
    /// Reads the metadata of a stored object: protobuf, CBOR (features of this crate) or JSON.
    ///
    /// # Errors
    /// The bytes are not an object of one of these encodings. The body is not checked.
    pub fn new(stored: Bytes) -> Result<Self, CodecError> {
        Ok(Self { head: Head::read(stored)?, resource_version: 0 })
    }

    /// The object as it is stored.
    #[must_use]
    pub fn stored(&self) -> &Bytes {
        &self.head.data
    }

    /// `apiVersion`: `v1`, `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> &str {
        self.head.api_version()
    }

    /// `kind`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.head.kind()
    }

    /// `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.head.name()
    }

    /// `metadata.namespace`, "" for objects of the cluster.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.head.namespace()
    }

    /// `metadata.uid`, "" for none.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.head.uid()
    }

    /// `metadata.generation`, 0 for none.
    #[must_use]
    pub fn generation(&self) -> i64 {
        self.head.generation
    }

    /// The resource version that a store has given it, 0 for none. It is not in the stored bytes.
    #[must_use]
    pub fn resource_version(&self) -> u64 {
        self.resource_version
    }

    /// A label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.head.labels().get(key)
    }

    /// All labels, in order of their keys.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.head.labels().iter()
    }

    /// An annotation.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.head.annotations().get(key)
    }

    /// All annotations, in order of their keys.
    pub fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        self.head.annotations().iter()
    }

    /// The whole object as a type of serde. The resource version is not set in it.
    ///
    /// # Errors
    /// The stored bytes do not have the form of `T`.
    pub fn decode<T: serde::de::DeserializeOwned>(&self) -> Result<T, CodecError> {
        any::decode(&self.head.data)
    }

    pub(super) fn set_resource_version(&mut self, resource_version: u64) {
        self.resource_version = resource_version;
    }

    /// The wanted labels and fields.
    pub(super) fn find(&self, wanted: &Wanted) -> Found<'_> {
        let mut found = wanted.nothing_found();
        for (answer, key) in found.labels.iter_mut().zip(&wanted.labels) {
            *answer = self.label(key).map(Cow::Borrowed);
        }
        let mut in_body = false;
        for (answer, path) in found.fields.iter_mut().zip(&wanted.fields) {
            let text = match path.as_str() {
                "metadata.name" => self.name(),
                "metadata.namespace" => self.namespace(),
                _ => {
                    in_body = true;
                    continue;
                }
            };
            *answer = Some(text).filter(|text| !text.is_empty()).map(Cow::Borrowed);
        }
        if in_body {
            any::find_fields(&self.head.data, wanted, &mut found);
        }
        found
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opaque({} {} ", self.api_version(), self.kind())?;
        if !self.namespace().is_empty() {
            write!(f, "{}/", self.namespace())?;
        }
        write!(f, "{})", self.name())
    }
}

/// The [`Codec`] of [`Opaque`] objects: writes what was read.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct OpaqueCodec;

impl Codec<Opaque> for OpaqueCodec {
    fn encode(&self, object: &Opaque) -> Result<Bytes, CodecError> {
        Ok(object.stored().clone())
    }

    fn decode(&self, data: Bytes) -> Result<Opaque, CodecError> {
        Opaque::new(data)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        any::skim(data, wanted)
    }
}

/// The [`Versioner`] of [`Opaque`] objects. The resource version is kept beside the stored bytes.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct OpaqueVersioner;

impl Versioner<Opaque> for OpaqueVersioner {
    fn resource_version(&self, object: &Opaque) -> Result<u64, InvalidResourceVersion> {
        Ok(object.resource_version())
    }

    fn set_resource_version(&self, object: &mut Opaque, resource_version: u64) -> Result<(), BoxError> {
        object.set_resource_version(resource_version);
        Ok(())
    }

    fn prepare_for_storage(&self, object: &mut Opaque) -> Result<(), BoxError> {
        object.set_resource_version(0);
        Ok(())
    }

    fn uid<'a>(&self, object: &'a Opaque) -> Cow<'a, str> {
        Cow::Borrowed(object.uid())
    }

    fn find<'a>(&self, object: &'a Opaque, wanted: &Wanted) -> Found<'a> {
        object.find(wanted)
    }
}
