//! Objects in whatever encoding they are stored.

use std::{fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use kubestore_core::{Codec, CodecError, Found, Object, Wanted};
use serde::{Serialize, de::DeserializeOwned};

#[cfg(feature = "cbor")]
use crate::cbor::{CborCodec, UnstructuredCborCodec};
use crate::{
    JsonCodec, Unstructured, UnstructuredCodec,
    protobuf::{MessageType, ProtobufCodec, UnstructuredProtobufCodec},
    sniff::{Encoding, sniff},
};

/// How a [`StorageCodec`] writes objects. It reads all encodings whatever it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteAs {
    /// As an API server does: the kinds of Kubernetes in protobuf, but for definitions of resources and of aggregated APIs, which
    /// are written as JSON like all custom resources.
    #[default]
    ApiServer,
    /// JSON, its names in order: as an API server writes custom resources.
    Json,
    /// CBOR, as an API server writes custom resources when it is told to.
    #[cfg(feature = "cbor")]
    Cbor,
}

/// The [`Codec`] of what API servers store: protobuf, JSON, CBOR (with the feature `cbor`) and, from long ago, either of them in
/// base64, told apart by their first bytes.
///
/// ```
/// use kubestore_codec::{StorageCodec, Unstructured};
/// use kubestore_core::Codec;
///
/// let codec = StorageCodec::unstructured();
/// let lease = Unstructured::new("coordination.k8s.io/v1", "Lease", "ns1", "leader");
/// let widget = Unstructured::new("shop.example.com/v1", "Widget", "ns1", "a");
/// assert!(codec.encode(&lease)?.starts_with(b"k8s\0"));
/// assert!(codec.encode(&widget)?.starts_with(b"{"));
/// assert_eq!(codec.decode(codec.encode(&widget)?)?, widget);
/// # Ok::<(), kubestore_core::CodecError>(())
/// ```
///
/// Selectors are answered from the bytes. A stored object that is damaged, or does not fit the type, goes unnoticed as long as it
/// does not match.
pub struct StorageCodec<T> {
    protobuf: Arc<dyn Codec<T>>,
    json: Arc<dyn Codec<T>>,
    #[cfg(feature = "cbor")]
    cbor: Arc<dyn Codec<T>>,
    /// Whether an object is of a kind that is written in protobuf.
    is_builtin: fn(&Self, &T) -> bool,
    type_meta: Option<(Box<str>, Box<str>)>,
    writes: WriteAs,
}

impl StorageCodec<Unstructured> {
    /// For objects of any kind.
    #[must_use]
    pub fn unstructured() -> Self {
        Self {
            protobuf: Arc::new(UnstructuredProtobufCodec),
            json: Arc::new(UnstructuredCodec),
            #[cfg(feature = "cbor")]
            cbor: Arc::new(UnstructuredCborCodec),
            is_builtin: |_, object| is_protobuf(object.api_version(), object.kind()),
            type_meta: None,
            writes: WriteAs::default(),
        }
    }
}

impl<T: Object + Serialize + DeserializeOwned> StorageCodec<T> {
    /// For objects of one kind, as any type of serde: one of `k8s-openapi`, a custom resource of `kube`, one of your own. Type
    /// and version are supplied where `T` does not serialise them.
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self {
            protobuf: Arc::new(ProtobufCodec::<T>::of(api_version, kind)),
            json: Arc::new(JsonCodec::<T>::of(api_version, kind).with_skim().versioned()),
            #[cfg(feature = "cbor")]
            cbor: Arc::new(CborCodec::<T>::of(api_version, kind).with_skim()),
            is_builtin: |codec, _| {
                codec.type_meta.as_ref().is_some_and(|(version, kind)| is_protobuf(version, kind))
            },
            type_meta: Some((api_version.into(), kind.into())),
            writes: WriteAs::default(),
        }
    }
}

impl<T: Object> StorageCodec<T> {
    /// Chooses what is written; [`WriteAs::ApiServer`] by default.
    #[must_use]
    pub fn writing(mut self, writes: WriteAs) -> Self {
        self.writes = writes;
        self
    }

    fn by_encoding(&self, encoding: &Encoding) -> &dyn Codec<T> {
        match encoding {
            Encoding::Protobuf => &*self.protobuf,
            #[cfg(feature = "cbor")]
            Encoding::Cbor => &*self.cbor,
            // It also knows what to say about all the rest.
            _ => &*self.json,
        }
    }

    /// The codec that writes `object`.
    fn writer(&self, object: &T) -> &dyn Codec<T> {
        match self.writes {
            WriteAs::ApiServer if (self.is_builtin)(self, object) => &*self.protobuf,
            #[cfg(feature = "cbor")]
            WriteAs::Cbor => &*self.cbor,
            WriteAs::ApiServer | WriteAs::Json => &*self.json,
        }
    }
}

/// Whether API servers store the kind in protobuf. Two groups are served by servers of their own, which write JSON.
fn is_protobuf(api_version: &str, kind: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    !matches!(group, "apiextensions.k8s.io" | "apiregistration.k8s.io")
        && MessageType::of(api_version, kind).is_some()
}

/// What is inside of base64, if it is something that is stored.
fn unwrapped(data: &[u8]) -> Option<(Encoding, Bytes)> {
    let inner = STANDARD.decode(data).ok()?;
    let encoding = sniff(&inner);
    let is_stored = matches!(encoding, Encoding::Protobuf | Encoding::Cbor | Encoding::Json);
    is_stored.then(|| (encoding, inner.into()))
}

impl<T: Object> Codec<T> for StorageCodec<T> {
    fn encode(&self, object: &T) -> Result<Bytes, CodecError> {
        self.writer(object).encode(object)
    }

    fn decode(&self, data: Bytes) -> Result<T, CodecError> {
        match sniff(&data) {
            Encoding::Unknown => match unwrapped(&data) {
                Some((encoding, inner)) => self.by_encoding(&encoding).decode(inner),
                None => self.json.decode(data),
            },
            encoding => self.by_encoding(&encoding).decode(data),
        }
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        self.by_encoding(&sniff(data)).skim(data, wanted)
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        match sniff(stored) {
            Encoding::Unknown => match unwrapped(stored) {
                Some((encoding, inner)) => self.by_encoding(&encoding).replaceable(&inner),
                None => Ok(()),
            },
            encoding => self.by_encoding(&encoding).replaceable(stored),
        }
    }
}

impl<T> Clone for StorageCodec<T> {
    fn clone(&self) -> Self {
        Self {
            protobuf: Arc::clone(&self.protobuf),
            json: Arc::clone(&self.json),
            #[cfg(feature = "cbor")]
            cbor: Arc::clone(&self.cbor),
            is_builtin: self.is_builtin,
            type_meta: self.type_meta.clone(),
            writes: self.writes,
        }
    }
}

impl<T> fmt::Debug for StorageCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StorageCodec")
            .field("type_meta", &self.type_meta)
            .field("writes", &self.writes)
            .finish_non_exhaustive()
    }
}
