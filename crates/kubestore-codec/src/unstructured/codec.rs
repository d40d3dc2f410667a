//! The JSON bytes of an `Unstructured`.

use std::borrow::Cow;

use bytes::Bytes;
use kubestore_core::{Codec, CodecError, Found, Wanted};

use super::Unstructured;
use crate::{
    json::{Paths, go_text, parse, skim, write_map},
    sniff::{Encoding, sniff},
    value::Value,
};

/// The [`Codec`] of [`Unstructured`] objects: JSON, byte for byte as Kubernetes keeps custom resources.
///
/// What is written has its names in order, no spaces, `<`, `>`, `&`, U+2028 and U+2029 escaped, and a newline at the end.
/// What is read may be any JSON that Kubernetes' decoder reads: of several members with one name the last counts, bytes
/// that are not UTF-8 and halves of surrogate pairs become U+FFFD.
///
/// Both sides need a `kind`, and refuse an `apiVersion` with more than one slash. Writing needs an `apiVersion` too, which
/// the reference does not ask for: an object that was *read* without one can still be changed and written back, but none
/// can be created that way.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to configure")]
pub struct UnstructuredCodec;

impl Codec<Unstructured> for UnstructuredCodec {
    fn encode(&self, object: &Unstructured) -> Result<Bytes, CodecError> {
        let mut out = Vec::with_capacity(1024);
        write_map(&mut out, object)
            .map_err(|cause| CodecError::new("the object cannot be written as JSON").with_source(cause))?;
        out.push(b'\n');
        if !has_type(object.kind(), object.api_version()) {
            return Err(missing("kind", &out));
        }
        if object.api_version().is_empty() && !object.is_versionless() {
            return Err(missing("apiVersion", &out).but_readable());
        }
        Ok(out.into())
    }

    fn decode(&self, data: Bytes) -> Result<Unstructured, CodecError> {
        let value = parse(&go_text(&data)).map_err(|cause| explain(&data, cause))?;
        match value {
            Value::Object(map) => {
                let object = Unstructured::decoded(map);
                if has_type(object.kind(), object.api_version()) {
                    Ok(object)
                } else {
                    Err(missing("kind", &data))
                }
            }
            Value::Null => Err(missing("kind", &data)),
            other => Err(CodecError::new(format!("the value is not an object but {}", other.type_name()))),
        }
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        // Whatever is out of the ordinary, errors included, is left to `decode`.
        let (Ok(text), Some(paths)) = (std::str::from_utf8(data), Paths::new(wanted)) else {
            return Ok(None);
        };
        let Ok(skimmed) = skim(text, &paths) else { return Ok(None) };
        // A list cannot take a resource version, which matters to a watch even where it does not match.
        if skimmed.has_items {
            return Ok(None);
        }
        if !has_type(skimmed.kind.as_deref().unwrap_or(""), skimmed.api_version.as_deref().unwrap_or("")) {
            return Ok(None);
        }
        let mut found = wanted.nothing_found();
        found.labels = skimmed.labels;
        found.fields = skimmed.fields;
        Ok(Some(found))
    }
}

impl UnstructuredCodec {
    /// Kind and apiVersion of a document that is in order, quickly; `None` leaves everything to [`decode`](Codec::decode).
    pub(crate) fn type_of(data: &[u8]) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
        let nothing = Wanted::default();
        let skimmed = skim(std::str::from_utf8(data).ok()?, &Paths::new(&nothing)?).ok()?;
        let (kind, api_version) = (skimmed.kind?, skimmed.api_version.unwrap_or_default());
        has_type(&kind, &api_version).then_some((kind, api_version))
    }

    /// Checks that a document which is about to be written has what every object needs.
    pub(crate) fn check_type(data: &[u8]) -> Result<(), CodecError> {
        let nothing = Wanted::default();
        let text = std::str::from_utf8(data).unwrap_or_default();
        let skimmed = Paths::new(&nothing).and_then(|paths| skim(text, &paths).ok());
        let kind = skimmed.as_ref().and_then(|skimmed| skimmed.kind.as_deref()).unwrap_or_default();
        let api_version =
            skimmed.as_ref().and_then(|skimmed| skimmed.api_version.as_deref()).unwrap_or_default();
        if !has_type(kind, api_version) {
            return Err(missing("kind", data));
        }
        if api_version.is_empty() { Err(missing("apiVersion", data)) } else { Ok(()) }
    }
}

/// Whether the reference sees a kind: it sees none where it cannot take the apiVersion apart.
fn has_type(kind: &str, api_version: &str) -> bool {
    !kind.is_empty() && api_version.bytes().filter(|byte| *byte == b'/').count() <= 1
}

/// The error about a document without an apiVersion.
pub(crate) fn without_version(data: &[u8]) -> CodecError {
    missing("apiVersion", data)
}

/// The error about an object of whose type `member` is missing.
fn missing(member: &'static str, data: &[u8]) -> CodecError {
    let (message, name) = match member {
        "kind" => ("the object has no kind, or an apiVersion that is not of the form group/version", "Kind"),
        _ => ("the object has no apiVersion: add it, such as `apiVersion: v1`", member),
    };
    CodecError::new(message).with_status_message(format!("Object '{name}' is missing in '{}'", go_text(data)))
}

/// Why bytes are not JSON; other encodings are called by their name.
fn explain(data: &[u8], cause: impl Into<kubestore_core::BoxError>) -> CodecError {
    match sniff(data) {
        Encoding::Protobuf => {
            CodecError::new("the value is stored as protobuf, which this release cannot decode yet")
        }
        Encoding::Cbor => {
            CodecError::new("the value is stored as CBOR, which this release cannot decode yet")
        }
        Encoding::Encrypted { provider, key } => CodecError::new(match (provider, key) {
            (Some(provider), Some(key)) => format!(
                "the value is encrypted by provider {} with key {}: configure that provider",
                kubestore_core::quote(&provider),
                kubestore_core::quote(&key),
            ),
            _ => "the value is encrypted: configure its provider".to_owned(),
        }),
        Encoding::Json | Encoding::Unknown => CodecError::new("the value is not JSON").with_source(cause),
    }
}
