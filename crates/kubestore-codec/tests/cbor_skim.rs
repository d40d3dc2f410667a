//! Skimming CBOR answers as decoding does, and hostile bytes do no harm.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use bytes::Bytes;
use common::{Random, base64, data, list};
use kubestore_codec::{
    Opaque, Unstructured, UnstructuredVersioner,
    cbor::{self, UnstructuredCborCodec},
};
use kubestore_core::{Codec, Versioner, Wanted};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn wanted(labels: &[&str], fields: &[&str]) -> Wanted {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Wanted::new(owned(labels), owned(fields))
}

fn everything() -> Wanted {
    wanted(
        &["app", "tier", "a.b/c", "", "gone"],
        &[
            "metadata.name",
            "metadata.namespace",
            "spec.nodeName",
            "spec",
            "spec.n",
            "spec.deep.er.still",
            "metadata.labels.app",
            "metadata.labels",
            "kind",
            "",
            "spec..x",
            "status.phase",
        ],
    )
}

/// Checks every reader of a document against the others; whether the skim had an answer.
fn check(document: &[u8], wanted: &Wanted) -> bool {
    let stored = Bytes::copy_from_slice(document);
    let skimmed = UnstructuredCborCodec.skim(document, wanted).unwrap();
    let decoded = UnstructuredCborCodec.decode(stored.clone());
    let by_serde = cbor::from_slice::<Unstructured>(document);
    let Ok(object) = decoded else {
        assert_eq!(skimmed, None, "{document:02x?}");
        return false;
    };
    assert_eq!(by_serde.unwrap(), object, "{document:02x?}");
    if document.starts_with(b"\xd9\xd9\xf7") {
        let opaque = Opaque::new(stored).unwrap();
        let found = UnstructuredVersioner.find(&object, wanted);
        let of_opaque = kubestore_codec::OpaqueVersioner.find(&opaque, wanted);
        assert_eq!(of_opaque.labels, found.labels, "{document:02x?}");
        assert_eq!((opaque.name(), opaque.uid()), (object.name(), object.uid()));
    }
    let again = UnstructuredCborCodec.encode(&object).unwrap();
    assert_eq!(UnstructuredCborCodec.decode(again).unwrap(), object);
    if let Some(found) = &skimmed {
        assert_eq!(*found, UnstructuredVersioner.find(&object, wanted), "{document:02x?}");
    }
    skimmed.is_some()
}

#[test]
fn real_objects_are_answered_without_decoding() {
    let mut answered = 0;
    for case in list(&data(include_str!("data/cbor-objects.json")), "objects") {
        let stored = base64(&case["cbor"]);
        answered += usize::from(check(&stored, &everything()) && check(&stored, &Wanted::default()));
    }
    // All but the one without apiVersion.
    assert_eq!(answered, 18);
}

#[test]
fn odd_objects_are_left_to_the_decoder() {
    for object in [
        serde_json::json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"labels": {"app": 1}}}),
        serde_json::json!({"kind": "Pod", "apiVersion": "a/b/c"}),
        serde_json::json!({"kind": "PodList", "apiVersion": "v1", "items": []}),
        serde_json::json!({"kind": "Pod"}),
        serde_json::json!([{"kind": "Pod"}]),
    ] {
        assert!(!check(&cbor::to_vec(&object).unwrap(), &everything()), "{object}");
    }
    let pod = cbor::to_vec(&serde_json::json!({"kind": "Pod", "apiVersion": "v1"})).unwrap();
    assert!(check(&pod, &everything()));
    let many = Wanted::new((0..70).map(|n| n.to_string()).collect(), Vec::new());
    assert!(!check(&pod, &many));
    let long = Wanted::new(Vec::new(), vec!["a.".repeat(100)]);
    assert!(!check(&pod, &long));
}

/// Changes a few bytes of a document.
fn mutate(random: &mut Random, document: &[u8]) -> Vec<u8> {
    const PIECES: &[&[u8]] = &[
        b"\xf6",
        b"\x40",
        b"\xa0",
        b"\x80",
        b"\xd6",
        b"\xd9\xd9\xf7",
        b"\xc0",
        b"\xc1",
        b"\xff",
        b"\xbf",
        b"\x9f",
        b"\x5f",
        b"\x7f",
        b"\x00",
        b"\x3b",
        b"\x9b\x7f",
        b"\xf9\x3c\x00",
        b"\xf7",
        b"\x61a",
        b"\x41\xff",
        b"\x43app\x01",
        b"\x46labels\xa0",
        b"\xc0\x742024-08-14T09:30:00Z",
    ];
    let mut bytes = document.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(7) {
            0 => drop(bytes.splice(at..at, random.pick(PIECES).iter().copied())),
            1 => drop(bytes.splice(at..bytes.len().min(at + 1), random.pick(PIECES).iter().copied())),
            2 => drop(bytes.drain(at..bytes.len().min(at + 1 + random.below(4)))),
            3 => bytes.truncate(at),
            4 | 5 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            _ => {
                let from = random.below(bytes.len() + 1).min(at);
                let piece = bytes[from..at.min(from + 40)].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

#[test]
fn mutated_documents_are_answered_rightly_or_not_at_all() {
    let objects = data(include_str!("data/cbor-objects.json"));
    let odd = data(include_str!("data/cbor-cases.json"));
    let objects = list(&objects, "objects").iter().map(|case| base64(&case["cbor"]));
    let odd = list(&odd, "cases").iter().map(|case| base64(&case["document"]));
    let documents: Vec<_> = objects.chain(odd).filter(|document| document.len() < 500).collect();
    let question = everything();
    let mut random = Random::new(11);
    let mut answered = 0;
    for document in documents.iter().cycle().take(100_000) {
        answered += usize::from(check(&mutate(&mut random, document), &question));
    }
    assert!(answered > 5_000, "{answered}");
}

fn json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c<\"\\\\é\u{1f600}\u{2028}]{0,6}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner).prop_map(Value::Object),
        ]
    })
}

fn members(values: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let names = prop::sample::select(vec![
        "metadata",
        "labels",
        "name",
        "namespace",
        "app",
        "tier",
        "a.b/c",
        "spec",
        "nodeName",
        "n",
        "deep",
        "er",
        "still",
        "kind",
        "",
        "status",
    ]);
    prop::collection::btree_map(names.prop_map(str::to_owned), values, 0..6)
        .prop_map(|members| members.into_iter().collect())
}

proptest! {
    #[test]
    fn generated_objects_are_answered_rightly(
        spec in json(), labels in json(), metadata in members(json()), name in json(),
    ) {
        let mut object = serde_json::json!({"kind": "Pod", "apiVersion": "v1", "spec": spec});
        object["metadata"] = metadata.into();
        object["metadata"]["labels"] = labels;
        object["metadata"]["name"] = name;
        check(&cbor::to_vec(&object).unwrap(), &everything());
    }

    #[test]
    fn both_writers_write_the_same_and_what_they_write_comes_back(value in json()) {
        let object = serde_json::json!({"kind": "Pod", "apiVersion": "v1", "x": value});
        let written = cbor::to_vec(&object).unwrap();
        let read = UnstructuredCborCodec.decode(written.clone().into()).unwrap();
        prop_assert_eq!(UnstructuredCborCodec.encode(&read).unwrap(), &written[..]);
        prop_assert_eq!(cbor::from_slice::<Value>(&written).unwrap(), object);
    }
}
