//! Skimming answers as decoding does.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use bytes::Bytes;
use common::{Random, base64, data, list, mutate};
use kubestore_codec::{UnstructuredCodec, UnstructuredVersioner};
use kubestore_core::{Codec, Versioner, Wanted};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn wanted(labels: &[&str], fields: &[&str]) -> Wanted {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Wanted::new(owned(labels), owned(fields))
}

/// Checks a document; whether the skim had an answer.
fn check(document: &[u8], wanted: &Wanted) -> bool {
    let skimmed = UnstructuredCodec.skim(document, wanted);
    let decoded = UnstructuredCodec.decode(Bytes::copy_from_slice(document));
    match (skimmed.unwrap(), decoded) {
        (None, _) => false,
        (Some(found), Ok(object)) => {
            let shown = String::from_utf8_lossy(document);
            assert_eq!(found, UnstructuredVersioner.find(&object, wanted), "{wanted:?} in {shown}");
            true
        }
        (Some(_), Err(error)) => panic!("answered although {error}: {}", String::from_utf8_lossy(document)),
    }
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
            "apiVersion",
            "",
            "spec..x",
            "status.phase",
        ],
    )
}

#[test]
fn real_objects_are_answered_without_decoding() {
    for case in list(&data(include_str!("data/objects.json")), "objects") {
        let stored = base64(&case["unstructuredJSON"]);
        assert!(check(&stored, &everything()), "{}", case["name"]);
        assert!(check(&stored, &Wanted::default()));
    }
    let pod = base64(&list(&data(include_str!("data/objects.json")), "objects")[0]["unstructuredJSON"]);
    let question = wanted(&["app"], &["spec.nodeName", "spec.enableServiceLinks", "spec.priority"]);
    let found = UnstructuredCodec.skim(&pod, &question).unwrap().unwrap();
    assert_eq!(found.labels[0].as_deref(), Some("web"));
    let fields: Vec<_> = found.fields.iter().map(|field| field.as_deref().unwrap()).collect();
    assert_eq!(fields, ["node-1", "true", "0"]);
}

#[test]
fn documents_of_every_shape_are_answered_rightly_or_not_at_all() {
    let cases = data(include_str!("data/json-cases.json"));
    let answered = list(&cases, "cases").iter().filter(|case| {
        let document = base64(&case["document"]);
        let answered = check(&document, &everything());
        // Only what decodes may be answered, and nearly all of that is.
        assert!(!answered || case["error"].is_null());
        answered
    });
    let answered = answered.count();
    assert!(answered > 240, "{answered}");
}

#[test]
fn odd_objects_are_left_to_the_decoder() {
    for document in [
        r#"{"kind":"Pod","metadata":{"labels":{"app":1}}}"#,
        r#"{"kind":"Pod","metadata":{},"metadata":{}}"#,
        r#"{"kind":"Pod","metadata":{"name":"a","name":"b"}}"#,
        r#"{"kind":"Pod","metadata":{"name":"a"},"metad\u0061ta":null}"#,
        r#"{"kind":""}"#,
        r#"{"kind":"Pod","apiVersion":"a/b/c"}"#,
        r#"[{"kind":"Pod"}]"#,
        "{\"kind\":\"Pod\",\"x\":\"\u{0}\"}",
    ] {
        assert!(!check(document.as_bytes(), &everything()), "{document}");
    }
    let many = Wanted::new((0..70).map(|n| n.to_string()).collect(), Vec::new());
    assert!(!check(br#"{"kind":"Pod"}"#, &many));
    let long = Wanted::new(Vec::new(), vec!["a.".repeat(100)]);
    assert!(!check(br#"{"kind":"Pod"}"#, &long));
}

#[test]
fn mutated_documents_are_answered_rightly_or_not_at_all() {
    let mut random = Random::new(1);
    let base = br#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"web","tier":"\u00e9"},"name":"a","namespace":"ns1"},"spec":{"deep":{"er":{"still":1.50}},"list":[{"a":[1,-2e-7]}],"n":5,"nodeName":"n1"},"status":{"phase":"Running"}}"#;
    let question = everything();
    let answered = (0..60_000).filter(|_| check(&mutate(&mut random, base), &question)).count();
    assert!(answered > 5_000, "{answered}");
}

fn json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Minus zero is written as `-0`, which is the integer 0 when it is read: the reference does the same.
        any::<f64>().prop_map(|number| Value::from(if number == 0.0 { 0.0 } else { number })),
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
        "apiVersion",
        "",
        "status",
    ]);
    prop::collection::btree_map(names.prop_map(str::to_owned), values, 0..6)
        .prop_map(|members| members.into_iter().collect())
}

proptest! {
    #[test]
    fn generated_objects_are_answered_rightly(
        spec in json(), labels in json(), metadata in members(json()), name in json(), pretty in any::<bool>(),
    ) {
        let mut object = serde_json::json!({"kind": "Pod", "apiVersion": "v1", "spec": spec});
        object["metadata"] = metadata.into();
        object["metadata"]["labels"] = labels;
        object["metadata"]["name"] = name;
        let text = if pretty { serde_json::to_vec_pretty(&object) } else { serde_json::to_vec(&object) };
        check(&text.unwrap(), &everything());
    }

    #[test]
    fn what_is_written_reads_back_and_is_written_the_same(value in json()) {
        let object = serde_json::json!({"kind": "Pod", "apiVersion": "v1", "x": value});
        let object = kubestore_codec::Unstructured::try_from(object).unwrap();
        let written = UnstructuredCodec.encode(&object).unwrap();
        let again = UnstructuredCodec.decode(written.clone()).unwrap();
        prop_assert_eq!(UnstructuredCodec.encode(&again).unwrap(), written);
    }
}
