//! CBOR against what the reference reads and writes.

mod common;

use std::{collections::BTreeMap, error::Error as _, fmt};

use bytes::Bytes;
use common::{base64, data, list};
use kubestore_codec::{
    MAX_DEPTH, Unstructured, UnstructuredCodec, Value,
    cbor::{self, CborCodec, UnstructuredCborCodec},
};
use kubestore_core::{Codec, CodecError, Wanted};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IgnoredAny, Visitor},
};

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

#[test]
fn odd_documents_are_read_and_refused_as_the_reference_does() {
    let cases = data(include_str!("data/cbor-cases.json"));
    let mut read = 0;
    for case in list(&cases, "cases") {
        let document = base64(&case["document"]);
        match (decode(document.clone()), case.get("encoded")) {
            (Ok(object), Some(encoded)) => {
                if UnstructuredCborCodec.replaceable(&document).is_ok() {
                    assert_eq!(encode(&object).unwrap(), base64(encoded), "{document:02x?}");
                    assert_eq!(cbor::to_vec(&object).unwrap(), base64(encoded), "{document:02x?}");
                }
                assert_eq!(cbor::from_slice::<Unstructured>(&document).unwrap(), object, "{document:02x?}");
                read += 1;
            }
            (Err(_), None) => assert_eq!(case["refused"], true),
            (Ok(_), None) => panic!("accepted: {document:02x?}"),
            (Err(error), Some(_)) => panic!("{error} ({:?}): {document:02x?}", error.source()),
        }
    }
    assert_eq!(read, 190);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let wrong: &[(&[u8], &str)] = &[
        (b"", "unexpected end at byte 0"),
        (b"\xa1\x41", "unexpected end at byte 2"),
        (b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff", "unexpected end at byte 9"),
        (b"\x9a\xff\xff\xff\xff\x01", "unexpected end at byte 6"),
        (b"\xa0\x00", "something follows the value at byte 1"),
        (b"\x81\x1c", "no CBOR item begins at byte 1"),
        (b"\x81\xf8\x14", "no CBOR item begins at byte 1"),
        (b"\xff", "a break outside of what it could end at byte 0"),
        (b"\xbf\x41a\xff", "a break outside of what it could end at byte 3"),
        (b"\xf7", "a simple value other than false, true and null at byte 0"),
        (b"\xf9\x7e\x00", "a float that is not a finite number at byte 0"),
        (b"\x1b\x80\0\0\0\0\0\0\0", "an integer beyond 64 bits with a sign at byte 0"),
        (b"\x3b\x80\0\0\0\0\0\0\0", "an integer beyond 64 bits with a sign at byte 0"),
        (b"\xc2\x41\x01", "a number of any length (tag 2 or 3) at byte 0"),
        (b"\x61\xff", "text that is not UTF-8 at byte 0"),
        (b"\x7f\x61\xc3\x61\xa9\xff", "text that is not UTF-8 at byte 1"),
        (b"\x5f\x61a\xff", "a piece of another type than its string at byte 1"),
        (b"\x7f\x7f\xff\xff", "a piece of another type than its string at byte 1"),
        (b"\xa1\x01\x01", "a key that is not text at byte 1"),
        (b"\xa2\x41a\x01\xf6\x02", "a key that is not text at byte 4"),
        (b"\xa2\x41a\x01\x61a\x02", "a key that its map has already at byte 4"),
        (b"\xa3\x41b\x01\x41a\x02\x41b\x03", "a key that its map has already at byte 7"),
        (b"\xc0\x41x", "a time (tag 0) that is not text at byte 1"),
        (b"\xc0\x61x", "a time (tag 0) that is not one by RFC 3339 at byte 1"),
        (b"\xc1\x61x", "a time (tag 1) that is not a number at byte 1"),
        (b"\xc1\x1b\0\0\0\x3a\xff\xf4\x41\x80", "a time outside of the years 0 to 9999 at byte 1"),
    ];
    for (document, message) in wrong {
        let cause = cbor::from_slice::<Value>(document).unwrap_err();
        assert_eq!(cause.to_string(), *message);
        let error = decode(*document).unwrap_err();
        assert_eq!(error.to_string(), "the value is not CBOR as Kubernetes reads it");
        assert_eq!(error.source().unwrap().to_string(), *message);
        assert!(cbor::from_slice::<IgnoredAny>(document).is_err(), "{message}");
    }
    for (stored, message) in [
        (&b"k8s\0\x0a"[..], "the value is stored as protobuf, not as CBOR"),
        (b"{\"kind\":\"Pod\"}", "the value is stored as JSON, not as CBOR"),
        (b"k8s:enc:aesgcm:v1:key1:\0", "the value is encrypted: configure its provider"),
        (b"\x80", "the value is not an object but an array"),
        (b"\xf6", "the value is not an object but null"),
    ] {
        assert_eq!(decode(stored).unwrap_err().to_string(), message);
    }
}

#[test]
fn tags_and_odd_keys_mean_what_they_mean_to_the_reference() {
    for (document, json) in [
        (&b"\xd6\x43\0\xff\x10"[..], r#""AP8Q""#),
        (b"\xd5\x43\0\xff\xff", r#""AP__""#),
        (b"\xd7\x43\0\xff\x10", r#""00ff10""#),
        // The innermost of these tags counts, and for keys too.
        (b"\xd6\xa1\x41k\x82\x41\xff\xd7\x41\xff", r#"{"aw==":["/w==","ff"]}"#),
        (b"\xd6\x61x", r#""x""#),
        (b"\xc1\x1a\x66\xbc\x79\x58", r#""2024-08-14T09:31:04Z""#),
        (b"\xc1\xfb\x41\xd9\xaf\x1e\x56\x20\0\0", r#""2024-08-14T09:31:04.5Z""#),
        (b"\xd8\x64\xc0\x742024-08-14T09:30:00Z", r#""2024-08-14T09:30:00Z""#),
        (b"\xa1\xf6\x01", r#"{"":1}"#),
        (b"\xbf\x5f\x41a\x41b\xff\x9f\xff\xff", r#"{"ab":[]}"#),
        (b"\x9f\xf4\xf5\xf6\x20\xf9\x80\0\xff", "[false,true,null,-1,-0.0]"),
        (b"\x43a\xffb", "\"a\u{fffd}b\""),
    ] {
        let value: serde_json::Value = cbor::from_slice(document).unwrap();
        assert_eq!(value.to_string(), json);
    }
}

#[test]
fn text_that_cannot_be_kept_may_not_be_overwritten() {
    let stored = b"\xd9\xd9\xf7\xa3\x41x\x42a\xff\x44kind\x43Pod\x4aapiVersion\x42v1";
    let object = decode(*stored).unwrap();
    assert_eq!(object.get("x").unwrap().as_str(), Some("a\u{fffd}"));
    let message = "the stored object has text that is not UTF-8, which would be lost";
    assert_eq!(UnstructuredCborCodec.replaceable(stored).unwrap_err().to_string(), message);
    assert_eq!(CborCodec::<Unstructured>::new().replaceable(stored).unwrap_err().to_string(), message);
    UnstructuredCborCodec.replaceable(&encode(&object).unwrap()).unwrap();
}

/// `levels` containers in all, in an object.
fn nested(levels: usize, open: &[u8]) -> Vec<u8> {
    let mut document = b"\xa3\x44kind\x43Pod\x4aapiVersion\x42v1\x41x".to_vec();
    document.extend(open.repeat(levels - 1));
    document.push(0x01);
    document
}

#[test]
fn depth_is_limited_and_needs_no_stack() {
    let work = || {
        for open in [&b"\x81"[..], b"\xa1\x41a", b"\xd6\x81"] {
            let document = nested(MAX_DEPTH, open);
            let object = decode(document.clone()).unwrap();
            assert_eq!(decode(encode(&object).unwrap()).unwrap(), object);
            for levels in [MAX_DEPTH + 1, 100_000] {
                let document = nested(levels, open);
                let cause = decode(document.clone()).unwrap_err();
                let cause = cause.source().unwrap().to_string();
                assert!(cause.starts_with("nested deeper than 10000 levels at byte "), "{cause}");
                assert!(decode(&document[..document.len() / 2]).is_err());
                let wanted = Wanted::new(vec!["a".into()], Vec::new());
                assert_eq!(UnstructuredCborCodec.skim(&document, &wanted).unwrap(), None);
                assert!(cbor::from_slice::<IgnoredAny>(&document).is_err());
                assert!(UnstructuredCborCodec.replaceable(&document).is_err());
            }
        }
        // Tags after the first count as levels, and take no stack either.
        let tags = [b"\xd6".repeat(200_000), vec![0x01]].concat();
        assert!(cbor::from_slice::<Value>(&tags).is_err());
        assert_eq!(cbor::from_slice::<Value>(&tags[190_000..]).unwrap(), Value::Integer(1));
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(work).unwrap().join().unwrap();
}

#[test]
fn serde_refuses_what_would_exhaust_its_stack() {
    for open in [&b"\x81"[..], b"\xa1\x41a"] {
        let object: Unstructured = cbor::from_slice(&nested(512, open)).unwrap();
        assert_eq!(cbor::to_vec(&object).unwrap(), encode(&object).unwrap());
        let error = cbor::from_slice::<Unstructured>(&nested(513, open)).unwrap_err();
        assert!(error.to_string().starts_with("nested deeper than 512 levels at byte "), "{error}");
        let object = decode(nested(513, open)).unwrap();
        assert!(cbor::to_vec(&object).is_err());
    }
}

#[test]
fn claims_take_no_memory() {
    // Four thousand arrays that claim four thousand million values each.
    let claims = b"\x9a\xff\xff\xff\xff".repeat(4_000);
    assert!(cbor::from_slice::<Value>(&claims[..2_000]).is_err());
    assert!(decode(claims).is_err());
    assert!(cbor::from_slice::<Vec<[u64; 32]>>(b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff\x01").is_err());
    assert!(cbor::from_slice::<BTreeMap<String, Value>>(b"\xbb\x7f\xff\xff\xff\xff\xff\xff\xff").is_err());
}

#[test]
fn what_kubernetes_could_not_read_is_not_written() {
    let mut object = Unstructured::new("v1", "Pod", "", "a");
    for not_a_number in [f64::NAN, f64::INFINITY] {
        object.insert("spec", not_a_number);
        let error = encode(&object).unwrap_err();
        assert_eq!(error.to_string(), "the object cannot be written as CBOR");
        assert_eq!(error.source().unwrap().to_string(), "a float that is not a finite number");
    }
    assert_eq!(cbor::to_vec(&f32::NAN).unwrap_err().to_string(), "a float that is not a finite number");
    assert_eq!(cbor::to_vec(&u64::MAX).unwrap_err().to_string(), "an integer beyond 64 bits with a sign");
    let numbers = BTreeMap::from([(vec![1], 1)]);
    assert_eq!(cbor::to_vec(&numbers).unwrap_err().to_string(), "a name that is not text");
    for (api_version, kind) in [("", "Pod"), ("apps/", "Pod"), ("a/b/c", "Pod"), ("v1", "")] {
        let object = Unstructured::new(api_version, kind, "", "a");
        assert!(encode(&object).is_err(), "{api_version} {kind}");
        assert!(CborCodec::new().encode(&object).is_err());
        assert!(decode(cbor::to_vec(&object).unwrap()).is_err());
    }
}

#[test]
fn numbers_are_written_in_their_shortest_form() {
    for (number, written) in [
        (0.0, &b"\xf9\0\0"[..]),
        (-0.0, b"\xf9\x80\0"),
        (5.960_464_477_539_063e-8, b"\xf9\0\x01"),
        (65504.0, b"\xf9\x7b\xff"),
        (65505.0, b"\xfa\x47\x7f\xe1\0"),
        (0.1, b"\xfb\x3f\xb9\x99\x99\x99\x99\x99\x9a"),
    ] {
        assert_eq!(cbor::to_vec(&number).unwrap()[3..], *written);
    }
    for (number, written) in [
        (23, &b"\x17"[..]),
        (24, b"\x18\x18"),
        (-25, b"\x38\x18"),
        (65_536, b"\x1a\0\x01\0\0"),
        (i64::MIN, b"\x3b\x7f\xff\xff\xff\xff\xff\xff\xff"),
    ] {
        assert_eq!(cbor::to_vec(&number).unwrap()[3..], *written);
    }
}
