//! Protobuf as the stored form of objects.

use std::{fmt, marker::PhantomData};

use bytes::Bytes;
use kubestore_core::{Codec, CodecError, Found, Object, Wanted};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    de::Deserializer,
    envelope::Envelope,
    error::{Problem, ProtobufError},
    losses::{check_replaceable, unknown_fields},
    release::Release,
    ser::Serializer,
    skim,
};
use crate::{
    Unstructured,
    sniff::{Encoding, sniff},
};

/// The [`Codec`] of [`Unstructured`] objects of the kinds of Kubernetes as protobuf, byte for byte as API servers store them.
///
/// Custom resources are not written: API servers store them as JSON. Selectors are answered from the bytes, so that a body
/// that is damaged goes unnoticed as long as the object does not match. An object with fields of a later version of
/// Kubernetes, which would be lost, is [marked](Unstructured::unknown_fields), not written again, and not
/// [replaceable](Codec::replaceable).
///
/// ```
/// use kubestore_codec::{Unstructured, protobuf::UnstructuredProtobufCodec};
/// use kubestore_core::Codec;
///
/// let mut lease = Unstructured::new("coordination.k8s.io/v1", "Lease", "ns1", "leader");
/// lease.set_pointer("/spec/holderIdentity", "node-1")?;
/// let stored = UnstructuredProtobufCodec.encode(&lease)?;
/// assert!(stored.starts_with(b"k8s\0"));
/// assert_eq!(UnstructuredProtobufCodec.decode(stored)?, lease);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct UnstructuredProtobufCodec;

impl Codec<Unstructured> for UnstructuredProtobufCodec {
    fn encode(&self, object: &Unstructured) -> Result<Bytes, CodecError> {
        if let Some(field) = object.unknown_fields().first() {
            let place = if field.path.is_empty() { "the object" } else { &field.path };
            let number = field.number;
            return Err(CodecError::new(format!(
                "{place} was stored with a field number {number} of a later version of Kubernetes, which would be lost"
            )));
        }
        ProtobufCodec::new().encode(object)
    }

    fn decode(&self, data: Bytes) -> Result<Unstructured, CodecError> {
        let object: Unstructured = ProtobufCodec::new().read(&data)?;
        Ok(object.without(unknown_fields(&data)?))
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        ProtobufCodec::<Unstructured>::new().skim(data, wanted)
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        Ok(check_replaceable(stored)?)
    }
}

/// The [`Codec`] of objects of a serde type as protobuf: the counterpart of [`JsonCodec`](crate::JsonCodec) for the kinds of
/// Kubernetes.
///
/// The type sees what the object is in JSON, and is written byte for byte as API servers store it. Every object needs an
/// `apiVersion` and a `kind`; [`of`](Self::of) supplies them for types that do not serialise them.
///
/// ```
/// use kubestore_codec::{ObjectMetadata, protobuf::ProtobufCodec};
/// use kubestore_core::Codec;
/// use serde::{Deserialize, Serialize};
/// use std::collections::BTreeMap;
///
/// #[derive(Serialize, Deserialize)]
/// struct ConfigMap {
///     metadata: ObjectMetadata,
///     data: BTreeMap<String, String>,
/// }
/// let codec = ProtobufCodec::<ConfigMap>::of("v1", "ConfigMap");
/// let data = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
/// let stored = codec.encode(&ConfigMap { metadata: ObjectMetadata::named("ns1", "conf"), data })?;
/// assert!(stored.starts_with(b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap"));
/// assert_eq!(codec.decode(stored)?.data["a"], "1");
/// # Ok::<(), kubestore_core::CodecError>(())
/// ```
///
/// Selectors are answered from the bytes, by the names that fields have in JSON; a body that is damaged or does not fit the
/// type goes unnoticed as long as the object does not match. [`without_skim`](Self::without_skim) decodes every object.
pub struct ProtobufCodec<T> {
    type_meta: Option<(Box<str>, Box<str>)>,
    skim: bool,
    release: Release,
    of: PhantomData<fn(T) -> T>,
}

impl<T> ProtobufCodec<T> {
    /// For a type that serialises `apiVersion` and `kind` itself.
    #[must_use]
    pub fn new() -> Self {
        Self { type_meta: None, skim: true, release: Release::default(), of: PhantomData }
    }

    /// Supplies `apiVersion` and `kind` where the type does not serialise them, or as nothing. Decodes objects of this
    /// kind only; their version is left to the type.
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self { type_meta: Some((api_version.into(), kind.into())), ..Self::new() }
    }

    /// Decodes every object that a selector is asked about.
    #[must_use]
    pub fn without_skim(mut self) -> Self {
        self.skim = false;
        self
    }

    /// Reads and writes as this version of Kubernetes does; [`Release::LATEST`] by default.
    #[must_use]
    pub fn with_release(mut self, release: Release) -> Self {
        self.release = release;
        self
    }

    fn is_kind(&self, kind: &str) -> bool {
        self.type_meta.as_ref().is_none_or(|(_, own)| **own == *kind)
    }
}

impl<T> Default for ProtobufCodec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for ProtobufCodec<T> {
    fn clone(&self) -> Self {
        Self { type_meta: self.type_meta.clone(), skim: self.skim, release: self.release, of: PhantomData }
    }
}

impl<T> fmt::Debug for ProtobufCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (api_version, kind) = self.type_meta.as_ref().map_or(("", ""), |(version, kind)| (version, kind));
        f.debug_struct("ProtobufCodec")
            .field("api_version", &api_version)
            .field("kind", &kind)
            .field("skim", &self.skim)
            .field("release", &self.release)
            .finish()
    }
}

impl<T: DeserializeOwned> ProtobufCodec<T> {
    /// [`decode`](Codec::decode) for types that are not objects of a store.
    pub(crate) fn read(&self, data: &[u8]) -> Result<T, CodecError> {
        let read = || {
            if let Some((api_version, kind)) = &self.type_meta
                && Envelope::parse(data)?.kind() != &**kind
            {
                let expected = format!("a {kind} of {api_version}");
                return Err(ProtobufError::new(Problem::OtherType { expected }));
            }
            T::deserialize(Deserializer::new(data)?.release(self.release))
        };
        read().map_err(|error| explain(data, error))
    }
}

impl<T: Object + Serialize + DeserializeOwned> Codec<T> for ProtobufCodec<T> {
    fn encode(&self, object: &T) -> Result<Bytes, CodecError> {
        let serializer = Serializer::new().release(self.release);
        let written = match &self.type_meta {
            Some((api_version, kind)) => serializer.to_vec_as(api_version, kind, object),
            None => serializer.to_vec(object),
        };
        let refused = |error| CodecError::new("the object cannot be written as protobuf").with_source(error);
        Ok(written.map_err(refused)?.into())
    }

    fn decode(&self, data: Bytes) -> Result<T, CodecError> {
        self.read(&data)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        Ok(if self.skim { skim::skim(data, wanted, |kind| self.is_kind(kind)).ok() } else { None })
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        Ok(check_replaceable(stored)?)
    }
}

/// Why bytes are not read; other encodings are called by their name.
fn explain(data: &[u8], error: ProtobufError) -> CodecError {
    match sniff(data) {
        Encoding::Cbor => CodecError::new("the value is stored as CBOR, not as protobuf"),
        Encoding::Json => CodecError::new("the value is stored as JSON, not as protobuf"),
        Encoding::Encrypted { .. } => CodecError::new("the value is encrypted: configure its provider"),
        Encoding::Protobuf | Encoding::Unknown => error.into(),
    }
}
