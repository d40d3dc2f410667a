//! Codec and versioner of lazy objects.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use kubestore_core::{BoxError, Codec, CodecError, Found, InvalidResourceVersion, Object, Versioner, Wanted};

use super::{
    object::{Body, Lazy},
    opaque::Opaque,
};

/// The [`Codec`] and the [`Versioner`] of [`Lazy`] objects of type `T`.
///
/// Decoding reads the metadata. The body is left to the codec of `T`, when somebody asks for it.
///
/// ```
/// use bytes::Bytes;
/// use kubestore_codec::{LazyCodec, Unstructured, UnstructuredCodec, UnstructuredVersioner};
/// use kubestore_core::{Codec, Versioner};
///
/// let codec = LazyCodec::new(UnstructuredCodec, UnstructuredVersioner);
/// // The spaces are not as the codec of `Unstructured` would write them.
/// let stored = Bytes::from_static(br#"{ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "web" } }"#);
/// let mut pod = codec.decode(stored.clone())?;
/// codec.set_resource_version(&mut pod, 7)?;
/// assert_eq!(pod.stored().map(|stored| stored.name()), Some("web"));
/// assert!(!pod.is_decoded());
/// assert_eq!(pod.get()?.resource_version(), "7");
/// assert_eq!(codec.encode(&pod)?, stored);
///
/// pod.get_mut()?.set_label("app", "web");
/// codec.prepare_for_storage(&mut pod)?;
/// let text = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"web"},"name":"web"}}"#;
/// assert_eq!(codec.encode(&pod)?, format!("{text}\n"));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct LazyCodec<T>(Parts<T>);

impl<T: Object> LazyCodec<T> {
    /// Objects that `codec` decodes when they are looked at.
    #[must_use]
    pub fn new(codec: impl Codec<T>, versioner: impl Versioner<T>) -> Self {
        Self(Parts { codec: Arc::new(codec), versioner: Arc::new(versioner) })
    }
}

impl<T> Clone for LazyCodec<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for LazyCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyCodec").field(&self.0.codec).finish()
    }
}

impl<T: Object> Codec<Lazy<T>> for LazyCodec<T> {
    fn encode(&self, object: &Lazy<T>) -> Result<Bytes, CodecError> {
        match &object.0 {
            Body::Stored { opaque, .. } => Ok(opaque.stored().clone()),
            Body::Own(object) => self.0.codec.encode(object),
        }
    }

    fn decode(&self, data: Bytes) -> Result<Lazy<T>, CodecError> {
        let opaque = Opaque::new(data)?;
        Ok(Lazy(Body::Stored { opaque, decoded: OnceLock::new(), parts: self.0.clone() }))
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        self.0.codec.skim(data, wanted)
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        self.0.codec.replaceable(stored)
    }
}

impl<T: Object> Versioner<Lazy<T>> for LazyCodec<T> {
    fn resource_version(&self, object: &Lazy<T>) -> Result<u64, InvalidResourceVersion> {
        match &object.0 {
            Body::Stored { opaque, .. } => Ok(opaque.resource_version()),
            Body::Own(object) => self.0.versioner.resource_version(object),
        }
    }

    fn set_resource_version(&self, object: &mut Lazy<T>, resource_version: u64) -> Result<(), BoxError> {
        match &mut object.0 {
            Body::Stored { opaque, decoded, .. } => {
                opaque.set_resource_version(resource_version);
                match decoded.get_mut() {
                    Some(object) => self.0.versioner.set_resource_version(object, resource_version),
                    None => Ok(()),
                }
            }
            Body::Own(object) => self.0.versioner.set_resource_version(object, resource_version),
        }
    }

    fn prepare_for_storage(&self, object: &mut Lazy<T>) -> Result<(), BoxError> {
        match &mut object.0 {
            Body::Stored { .. } => self.set_resource_version(object, 0),
            Body::Own(object) => self.0.versioner.prepare_for_storage(object),
        }
    }

    fn uid<'a>(&self, object: &'a Lazy<T>) -> Cow<'a, str> {
        match &object.0 {
            Body::Stored { opaque, .. } => Cow::Borrowed(opaque.uid()),
            Body::Own(object) => self.0.versioner.uid(object),
        }
    }

    fn find<'a>(&self, object: &'a Lazy<T>, wanted: &Wanted) -> Found<'a> {
        match &object.0 {
            Body::Stored { opaque, .. } => opaque.find(wanted),
            Body::Own(object) => self.0.versioner.find(object, wanted),
        }
    }
}

/// What decodes the body of a lazy object, and knows where `T` keeps its resource version.
pub(super) struct Parts<T> {
    codec: Arc<dyn Codec<T>>,
    versioner: Arc<dyn Versioner<T>>,
}

impl<T: Object> Parts<T> {
    pub(super) fn decode(&self, opaque: &Opaque) -> Result<T, CodecError> {
        let mut object = self.codec.decode(opaque.stored().clone())?;
        self.versioner
            .set_resource_version(&mut object, opaque.resource_version())
            .map_err(|cause| CodecError::new("the object takes no resource version").with_source(cause))?;
        Ok(object)
    }
}

impl<T> Clone for Parts<T> {
    fn clone(&self) -> Self {
        Self { codec: Arc::clone(&self.codec), versioner: Arc::clone(&self.versioner) }
    }
}
