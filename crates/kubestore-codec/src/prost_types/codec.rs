//! Kubernetes' protobuf by way of `prost`.

use std::{borrow::Cow, fmt, marker::PhantomData};

use bytes::Bytes;
use kubestore_core::{Codec, CodecError, Found, Object, Wanted};
use prost::Message;

use crate::{
    Unstructured,
    protobuf::{Envelope, ProtobufCodec, check_replaceable, from_slice},
};

/// The [`Codec`] of objects of a `prost` type, in the envelope of Kubernetes.
///
/// Made for the types of `k8s-pb`. Of what an API server has stored they keep every field that they know, and whether it was
/// there: read and written again it is the same to the byte, except that an empty value in a map, such as that of a
/// label, loses the two bytes that say so.
///
/// An object that was *made* with these types is written shorter than an API server would. That writes the fields that are
/// not optional in its Go types even when they are empty (a Pod with nothing but a name takes 88 bytes), and `prost`
/// what is set (30 bytes). Both mean the same to every reader, but the first update by an API server writes such an
/// object anew.
///
/// Fields of a newer Kubernetes than `k8s-pb` knows are dropped when an object is decoded, for `prost` keeps none. So
/// [`replaceable`](Codec::replaceable) refuses to overwrite an object that has any.
///
/// ```
/// use k8s_pb::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
/// use kubestore_codec::ProstCodec;
/// use kubestore_core::Codec;
///
/// let metadata = ObjectMeta { name: Some("a".into()), ..ObjectMeta::default() };
/// let object = ConfigMap { metadata: Some(metadata), ..ConfigMap::default() };
/// let stored = ProstCodec::new().encode(&object)?;
/// assert!(stored.starts_with(b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x05\x0a\x03\x0a\x01a"));
/// assert_eq!(ProstCodec::<ConfigMap>::new().decode(stored)?, object);
/// # Ok::<(), kubestore_core::CodecError>(())
/// ```
pub struct ProstCodec<T> {
    api_version: Cow<'static, str>,
    kind: Cow<'static, str>,
    of: PhantomData<fn(T) -> T>,
}

impl<T: k8s_pb::Resource> ProstCodec<T> {
    /// For a type of `k8s-pb`, which says its `apiVersion` and `kind` itself.
    #[must_use]
    pub fn new() -> Self {
        Self { api_version: T::API_VERSION.into(), kind: T::KIND.into(), of: PhantomData }
    }
}

impl<T: k8s_pb::Resource> Default for ProstCodec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> ProstCodec<T> {
    /// For any `prost` type.
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self { api_version: api_version.to_owned().into(), kind: kind.to_owned().into(), of: PhantomData }
    }

    /// The envelope of an object of this type.
    fn open<'a>(&self, data: &'a [u8]) -> Result<Envelope<'a>, CodecError> {
        let envelope = Envelope::parse(data)?;
        if envelope.kind() != self.kind || envelope.api_version() != self.api_version {
            return Err(CodecError::new("the value is an object of another kind or version"));
        }
        Ok(envelope)
    }
}

impl<T> Clone for ProstCodec<T> {
    fn clone(&self) -> Self {
        Self { api_version: self.api_version.clone(), kind: self.kind.clone(), of: PhantomData }
    }
}

impl<T> fmt::Debug for ProstCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProstCodec")
            .field("api_version", &self.api_version)
            .field("kind", &self.kind)
            .finish()
    }
}

impl<T: Object + Message + Default> Codec<T> for ProstCodec<T> {
    fn encode(&self, object: &T) -> Result<Bytes, CodecError> {
        let message = object.encode_to_vec();
        Ok(Envelope::new(&self.api_version, &self.kind, &message).to_vec().into())
    }

    fn decode(&self, data: Bytes) -> Result<T, CodecError> {
        let message = self.open(&data)?.message_of(&data);
        T::decode(message).map_err(|cause| {
            CodecError::new("the value does not have the form of its type").with_source(cause)
        })
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        self.open(data)?;
        ProtobufCodec::<Unstructured>::new().skim(data, wanted)
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        let written = self.encode(&self.decode(Bytes::copy_from_slice(stored))?)?;
        if written == stored {
            return Ok(());
        }
        check_replaceable(stored)?;
        // The table of messages may know fields that the type does not.
        if from_slice::<Unstructured>(stored)? != from_slice::<Unstructured>(&written)? {
            return Err(CodecError::new("the stored object has fields that its type does not know"));
        }
        Ok(())
    }
}
