//! CBOR against what the reference reads and writes.

mod common;

use std::{collections::BTreeMap, fmt};

use bytes::Bytes;
use common::{base64, data, list};
use kubestore_codec::{
    Unstructured, UnstructuredCodec, Value,
    cbor::{self, UnstructuredCborCodec},
};
use kubestore_core::{Codec, CodecError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Visitor};

fn decode(document: impl Into<Vec<u8>>) -> Result<Unstructured, CodecError> {
    UnstructuredCborCodec.decode(Bytes::from(document.into()))
}

fn encode(object: &Unstructured) -> Result<Vec<u8>, CodecError> {
    UnstructuredCborCodec.encode(object).map(|bytes| bytes.to_vec())
}

/// An object of the reference in its forms.
struct Case {
    name: String,
    json: Vec<u8>,
    cbor: Vec<u8>,
    /// As its Go type is written, where that differs.
    typed: Option<Vec<u8>>,
}

fn objects() -> Vec<Case> {
    let in_json = data(include_str!("data/objects.json"));
    let in_cbor = data(include_str!("data/cbor-objects.json"));
    let pairs = list(&in_json, "objects").iter().zip(list(&in_cbor, "objects"));
    pairs
        .map(|(json, cbor)| {
            assert_eq!(json["name"], cbor["name"]);
            Case {
                name: json["name"].to_string(),
                json: base64(&json["unstructuredJSON"]),
                cbor: base64(&cbor["cbor"]),
                typed: cbor.get("typed").map(base64),
            }
        })
        .collect()
}

#[test]
fn objects_are_read_and_written_byte_for_byte() {
    for Case { name, json, cbor: stored, .. } in objects() {
        let object: Unstructured = cbor::from_slice(&stored).unwrap();
        if object.api_version().is_empty() {
            // The reference writes this and does not read it.
            let message = "the object has no apiVersion: add it, such as `apiVersion: v1`";
            assert_eq!(decode(stored).unwrap_err().to_string(), message);
            assert_eq!(encode(&object).unwrap_err().to_string(), message);
            continue;
        }
        assert_eq!(decode(stored.clone()).unwrap(), object, "{name}");
        assert_eq!(UnstructuredCodec.encode(&object).unwrap(), json, "{name}");
        assert_eq!(encode(&object).unwrap(), stored, "{name}");
        assert_eq!(cbor::to_vec(&object).unwrap(), stored, "{name}");
        let other: serde_json::Value = cbor::from_slice(&stored).unwrap();
        assert_eq!(cbor::to_vec(&other).unwrap(), stored, "{name}");
        UnstructuredCborCodec.replaceable(&stored).unwrap();
    }
}

#[test]
fn the_reference_writes_types_the_same_but_for_their_bytes() {
    let mut different = 0;
    for Case { name, json, cbor: stored, typed } in objects() {
        let Some(typed) = typed else { continue };
        let object = decode(typed.clone()).unwrap();
        assert_eq!(UnstructuredCodec.encode(&object).unwrap(), json, "{name}");
        assert_eq!(encode(&object).unwrap(), stored, "{name}");
        let written = if object.kind() == "Secret" {
            cbor::to_vec(&cbor::from_slice::<WithBytes<RawBytes>>(&typed).unwrap())
        } else {
            cbor::to_vec(&cbor::from_slice::<WithBytes<String>>(&typed).unwrap())
        };
        assert_eq!(written.unwrap(), typed, "{name}");
        different += 1;
    }
    assert_eq!(different, 2);
}

/// A `ConfigMap` or `Secret` whose bytes are bytes for serde.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WithBytes<D> {
    api_version: String,
    kind: String,
    metadata: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    immutable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    data: BTreeMap<String, D>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary_data: Option<BTreeMap<String, RawBytes>>,
}

#[derive(Debug, PartialEq)]
struct RawBytes(Vec<u8>);

impl Serialize for RawBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for RawBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BytesVisitor;

        impl Visitor<'_> for BytesVisitor {
            type Value = RawBytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<RawBytes, E> {
                Ok(RawBytes(bytes.to_vec()))
            }
        }

        deserializer.deserialize_byte_buf(BytesVisitor)
    }
}
