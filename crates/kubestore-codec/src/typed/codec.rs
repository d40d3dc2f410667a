//! JSON of any serde type.

use std::{fmt, marker::PhantomData};

use bytes::Bytes;
use kubestore_core::{Codec, CodecError, Found, Object, Wanted};
use serde::{Serialize, de::DeserializeOwned};

use super::describe::WrongForm;
use crate::{
    Unstructured, UnstructuredCodec,
    json::{canonical, go_text},
    unstructured::without_version,
};

/// The [`Codec`] of objects of a serde type, as JSON.
///
/// What is written is what [`UnstructuredCodec`] would write for the same content: names in order, so that a `HashMap` in
/// the type does no harm. Every object needs an `apiVersion` and a `kind`; [`of`](Self::of) supplies them for types that do
/// not serialise them.
///
/// ```
/// use kubestore_codec::{JsonCodec, ObjectMetadata};
/// use kubestore_core::Codec;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Widget {
///     metadata: ObjectMetadata,
///     size: u32,
/// }
/// let codec = JsonCodec::<Widget>::of("shop.example.com/v1", "Widget");
/// let widget = Widget { metadata: ObjectMetadata::named("ns1", "a"), size: 3 };
/// let text = r#"{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"ns1"},"size":3}"#;
/// assert_eq!(codec.encode(&widget)?, format!("{text}\n"));
/// # Ok::<(), kubestore_core::CodecError>(())
/// ```
///
/// An object of another kind is not decoded when the kind is known, and one without a kind never is. As `decode` asks serde,
/// selectors decode every object; [`with_skim`](Self::with_skim) saves that.
pub struct JsonCodec<T> {
    type_meta: Option<(Box<str>, Box<str>)>,
    skim: bool,
    versioned: bool,
    of: PhantomData<fn(T) -> T>,
}

impl<T> JsonCodec<T> {
    /// For a type that serialises `apiVersion` and `kind` itself, as those of `k8s-openapi` and the custom resources of
    /// `kube` do.
    #[must_use]
    pub fn new() -> Self {
        Self { type_meta: None, skim: false, versioned: false, of: PhantomData }
    }

    /// Supplies `apiVersion` and `kind` where the type does not serialise them, or as nothing. Decodes objects of this
    /// kind only; their version is left to the type.
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Self {
        Self { type_meta: Some((api_version.into(), kind.into())), ..Self::new() }
    }

    /// Answers selectors from the bytes, without decoding objects that do not match.
    ///
    /// Twice as fast or more. In return, a stored object that is well-formed JSON but does not fit the type goes unnoticed
    /// as long as it does not match, and fields are looked up under the names that they have in the JSON.
    #[must_use]
    pub fn with_skim(mut self) -> Self {
        self.skim = true;
        self
    }

    /// Refuses documents without an apiVersion, as the reference does with kinds that it knows.
    #[cfg(feature = "protobuf")]
    pub(crate) fn versioned(mut self) -> Self {
        self.versioned = true;
        self
    }
}

impl<T> Default for JsonCodec<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for JsonCodec<T> {
    fn clone(&self) -> Self {
        Self { type_meta: self.type_meta.clone(), of: PhantomData, ..*self }
    }
}

impl<T> fmt::Debug for JsonCodec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (api_version, kind) = self.type_meta.as_ref().map_or(("", ""), |(version, kind)| (version, kind));
        f.debug_struct("JsonCodec")
            .field("api_version", &api_version)
            .field("kind", &kind)
            .field("skim", &self.skim)
            .finish()
    }
}

impl<T> JsonCodec<T> {
    /// The document with its type checked, in the form that the reference would write.
    fn check(&self, data: &Bytes) -> Result<Unstructured, CodecError> {
        let object = UnstructuredCodec.decode(data.clone())?;
        if self.is_kind(object.kind()) { Ok(object) } else { Err(Self::other_kind()) }
    }

    fn check_version(&self, api_version: &str, data: &[u8]) -> Result<(), CodecError> {
        if self.versioned && api_version.is_empty() { Err(without_version(data)) } else { Ok(()) }
    }

    fn is_kind(&self, kind: &str) -> bool {
        self.type_meta.as_ref().is_none_or(|(_, own)| **own == *kind)
    }

    fn other_kind() -> CodecError {
        CodecError::new("the value is an object of another kind")
    }
}

impl<T: DeserializeOwned> JsonCodec<T> {
    /// [`decode`](Codec::decode) for types that are not objects of a store.
    pub(crate) fn read(&self, data: &Bytes) -> Result<T, CodecError> {
        let checked = match UnstructuredCodec::type_of(data) {
            Some((kind, version)) if self.is_kind(&kind) => {
                self.check_version(&version, data)?;
                None
            }
            Some(_) => return Err(Self::other_kind()),
            None => {
                let object = self.check(data)?;
                self.check_version(object.api_version(), data)?;
                Some(object)
            }
        };
        let error = match serde_json::from_str(&go_text(data)) {
            Ok(object) => return Ok(object),
            Err(error) => error,
        };
        // What serde_json or the type refuse and the reference does not (halves of surrogate pairs, members that are
        // there twice) is not in the canonical form.
        let checked = checked.map_or_else(|| self.check(data), Ok)?;
        let canonical = UnstructuredCodec.encode(&checked)?;
        serde_json::from_slice(&canonical).map_err(|_| {
            let cause = WrongForm::new(&error);
            CodecError::new("the value does not have the form of its type").with_source(cause)
        })
    }
}

impl<T: Object + Serialize + DeserializeOwned> Codec<T> for JsonCodec<T> {
    fn encode(&self, object: &T) -> Result<Bytes, CodecError> {
        // The text of a serde error may quote the object.
        let refused = |_| CodecError::new("the object cannot be serialised as JSON");
        let text = serde_json::to_string(object).map_err(refused)?;
        let supplied =
            self.type_meta.as_ref().map(|(version, kind)| [("apiVersion", &**version), ("kind", kind)]);
        let supplied = supplied.as_ref().map_or(&[][..], |both| both);
        let out = canonical(&text, supplied)
            .map_err(|cause| CodecError::new("the object cannot be written as JSON").with_source(cause))?;
        UnstructuredCodec::check_type(&out)?;
        Ok(out.into())
    }

    fn decode(&self, data: Bytes) -> Result<T, CodecError> {
        self.read(&data)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        let fits = || UnstructuredCodec::type_of(data).is_some_and(|(kind, _)| self.is_kind(&kind));
        if self.skim && fits() { UnstructuredCodec.skim(data, wanted) } else { Ok(None) }
    }
}
