//! CBOR as the stored form of objects.

use std::{fmt, marker::PhantomData};

use bytes::Bytes;
use kubestore_core::{Codec, CodecError, Found, Object, Wanted};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    build::build, de::from_slice, error::CborError, head::read, header::SELF_DESCRIBED, reader::Reader,
    ser::write_object, skim, write::write_map,
};
use crate::{
    Unstructured,
    json::Paths,
    lazy::HeadRef,
    sniff::{Encoding, sniff},
    value::Value,
};

/// The [`Codec`] of [`Unstructured`] objects as CBOR, byte for byte as API servers write it that are told to store custom
/// resources so.
///
/// What is read may be anything that they read, the self-described tag in front or not. It may be nested as deep as
/// Kubernetes 1.36 allows; older versions stop at 64 levels and 1024 members. Both sides need `apiVersion` and `kind`.
///
/// Byte strings that stand for text need not be UTF-8. Where they are not, U+FFFD is read, and
/// [`replaceable`](Codec::replaceable) does not let them be overwritten.
///
/// ```
/// use kubestore_codec::{Unstructured, cbor::UnstructuredCborCodec};
/// use kubestore_core::Codec;
///
/// let widget = Unstructured::new("shop.example.com/v1", "Widget", "", "a");
/// let stored = UnstructuredCborCodec.encode(&widget)?;
/// assert_eq!(stored[..16], *b"\xd9\xd9\xf7\xa3DkindFWidget");
/// assert_eq!(UnstructuredCborCodec.decode(stored)?, widget);
/// # Ok::<(), kubestore_core::CodecError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct UnstructuredCborCodec;

impl Codec<Unstructured> for UnstructuredCborCodec {
    fn encode(&self, object: &Unstructured) -> Result<Bytes, CodecError> {
        check_type(object.kind(), object.api_version())?;
        let mut out = Vec::with_capacity(1024);
        out.extend_from_slice(&SELF_DESCRIBED);
        write_map(&mut out, object).map_err(CborError::refused_by_writer)?;
        Ok(out.into())
    }

    fn decode(&self, data: Bytes) -> Result<Unstructured, CodecError> {
        match build(&data).map_err(|cause| explain(&data, cause))? {
            Value::Object(map) => {
                let object = Unstructured::from(map);
                check_type(object.kind(), object.api_version())?;
                Ok(object)
            }
            other => Err(CodecError::new(format!("the value is not an object but {}", other.type_name()))),
        }
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        Ok(skim_stored(data, wanted, |_| true))
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        replaceable(stored)
    }
}

/// The [`Codec`] of objects of a serde type, as CBOR: the counterpart of [`JsonCodec`](crate::JsonCodec).
///
/// Every object needs an `apiVersion` and a `kind`; [`of`](Self::of) supplies them for types that do not serialise them. See
/// [`from_slice`](super::from_slice) and [`to_vec`](super::to_vec) for what types see and how they are written.
///
/// ```
/// use kubestore_codec::{ObjectMetadata, cbor::CborCodec};
/// use kubestore_core::Codec;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Widget {
///     metadata: ObjectMetadata,
///     size: u32,
/// }
/// let codec = CborCodec::<Widget>::of("shop.example.com/v1", "Widget");
/// let widget = Widget { metadata: ObjectMetadata::named("ns1", "a"), size: 3 };
/// let stored = codec.encode(&widget)?;
/// assert_eq!(stored[..22], *b"\xd9\xd9\xf7\xa4DkindFWidgetDsize\x03");
/// assert_eq!(codec.decode(stored)?.metadata, widget.metadata);
/// # Ok::<(), kubestore_core::CodecError>(())
/// ```
pub struct CborCodec<T> {
    type_meta: Option<(Box<str>, Box<str>)>,
    skim: bool,
    of: PhantomData<fn(T) -> T>,
}

impl<T> CborCodec<T> {
    /// For a type that serialises `apiVersion` and `kind` itself.
    #[must_use]
    pub fn new() -> Self {
        Self { type_meta: None, skim: false, of: PhantomData }
    }

    /// Supplies `apiVersion` and `kind` where the type does not serialise them, or as nothing. Decodes objects of this
    /// kind only; their version is left to the type.
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self { type_meta: Some((api_version.into(), kind.into())), ..Self::new() }
    }

    /// Answers selectors from the bytes, without decoding objects that do not match. In return, a stored object that is
    /// well-formed but does not fit the type goes unnoticed as long as it does not match, and fields are looked up under
    /// the names that they have in the bytes.
    #[must_use]
    pub fn with_skim(mut self) -> Self {
        self.skim = true;
        self
    }

    fn is_kind(&self, kind: &str) -> bool {
        self.type_meta.as_ref().is_none_or(|(_, own)| **own == *kind)
    }
}

impl<T> Default for CborCodec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for CborCodec<T> {
    fn clone(&self) -> Self {
        Self { type_meta: self.type_meta.clone(), skim: self.skim, of: PhantomData }
    }
}

impl<T> fmt::Debug for CborCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (api_version, kind) = self.type_meta.as_ref().map_or(("", ""), |(version, kind)| (version, kind));
        f.debug_struct("CborCodec")
            .field("api_version", &api_version)
            .field("kind", &kind)
            .field("skim", &self.skim)
            .finish()
    }
}

impl<T: DeserializeOwned> CborCodec<T> {
    /// [`decode`](Codec::decode) for types that are not objects of a store.
    pub(crate) fn read(&self, data: &[u8]) -> Result<T, CodecError> {
        if !self.is_kind(&head(data)?.kind) {
            return Err(CodecError::new("the value is an object of another kind"));
        }
        from_slice(data).map_err(CborError::refused_by_type)
    }
}

impl<T: Object + Serialize + DeserializeOwned> Codec<T> for CborCodec<T> {
    fn encode(&self, object: &T) -> Result<Bytes, CodecError> {
        let supplied =
            self.type_meta.as_ref().map(|(version, kind)| [("apiVersion", &**version), ("kind", kind)]);
        let supplied = supplied.as_ref().map_or(&[][..], |both| both);
        let written = write_object(object, supplied).map_err(CborError::refused_by_writer)?;
        check_type(&written.kind, &written.api_version)?;
        Ok(written.object.into())
    }

    fn decode(&self, data: Bytes) -> Result<T, CodecError> {
        self.read(&data)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        Ok(if self.skim { skim_stored(data, wanted, |kind| self.is_kind(kind)) } else { None })
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        replaceable(stored)
    }
}

/// What is wanted of an object, by the bytes; `None` leaves it to the decoder.
fn skim_stored<'a>(data: &'a [u8], wanted: &Wanted, is_kind: impl FnOnce(&str) -> bool) -> Option<Found<'a>> {
    let skimmed = skim::skim(data, &Paths::new(wanted)?).ok()?;
    let kind = skimmed.kind.unwrap_or_default();
    // A list cannot take a resource version, which matters to a watch even where it does not match.
    if skimmed.has_items || !is_kind(&kind) {
        return None;
    }
    check_type(&kind, &skimmed.api_version.unwrap_or_default()).ok()?;
    let mut found = wanted.nothing_found();
    found.labels = skimmed.labels;
    found.fields = skimmed.fields;
    Some(found)
}

/// Type and metadata of a stored object, all of which is checked.
pub(crate) fn head(data: &[u8]) -> Result<HeadRef<'_>, CodecError> {
    let head = read(data).map_err(|cause| explain(data, cause))?;
    let Some(head) = head else { return Err(CodecError::new("the value is not an object")) };
    check_type(&head.kind, &head.api_version)?;
    Ok(head)
}

/// Whether the reference sees kind and version; without both it does not read the object.
fn check_type(kind: &str, api_version: &str) -> Result<(), CodecError> {
    if kind.is_empty() || api_version.bytes().filter(|byte| *byte == b'/').count() > 1 {
        return Err(CodecError::new(
            "the object has no kind, or an apiVersion that is not of the form group/version",
        ));
    }
    if api_version.rsplit('/').next().is_none_or(str::is_empty) {
        return Err(CodecError::new("the object has no apiVersion: add it, such as `apiVersion: v1`"));
    }
    Ok(())
}

fn replaceable(stored: &[u8]) -> Result<(), CodecError> {
    let mut reader = Reader::new(stored);
    reader.skip(None).map_err(CborError::refused_by_reader)?;
    if reader.has_replaced() {
        return Err(CodecError::new("the stored object has text that is not UTF-8, which would be lost"));
    }
    Ok(())
}

/// Why bytes are not read; other encodings are called by their name.
fn explain(data: &[u8], cause: CborError) -> CodecError {
    let stored_as = match sniff(data) {
        Encoding::Protobuf => "protobuf",
        Encoding::Json => "JSON",
        Encoding::Encrypted { .. } => {
            return CodecError::new("the value is encrypted: configure its provider");
        }
        Encoding::Cbor | Encoding::Unknown => return cause.refused_by_reader(),
    };
    CodecError::new(format!("the value is stored as {stored_as}, not as CBOR"))
}
