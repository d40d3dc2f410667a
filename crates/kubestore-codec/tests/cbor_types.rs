//! Rust types in CBOR.

mod common;

use std::{borrow::Cow, collections::BTreeMap, error::Error as _};

use bytes::Bytes;
use common::{base64, data, list};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubestore_codec::{
    HasMetadata, MetadataVersioner, ObjectMetadata, Opaque, Unstructured, Value,
    cbor::{self, CborCodec, UnstructuredCborCodec},
};
use kubestore_core::{Codec, Versioner, Wanted};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Widget {
    metadata: ObjectMetadata,
    size: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
}

impl HasMetadata for Widget {
    fn metadata(&self) -> &ObjectMetadata {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMetadata {
        &mut self.metadata
    }
}

fn widget() -> Widget {
    let mut metadata = ObjectMetadata::named("ns1", "a");
    metadata.labels.insert("app".into(), "web".into());
    Widget { metadata, size: 70_000, ratio: Some(0.5) }
}

fn codec() -> CborCodec<Widget> {
    CborCodec::of("shop.example.com/v1", "Widget")
}

#[test]
fn an_object_of_a_type_is_written_as_an_object_of_any_kind_is() {
    let stored = codec().encode(&widget()).unwrap();
    let object = UnstructuredCborCodec.decode(stored.clone()).unwrap();
    assert_eq!((object.api_version(), object.kind()), ("shop.example.com/v1", "Widget"));
    assert_eq!(object.pointer("/spec"), None);
    assert_eq!(object.pointer("/size"), Some(&Value::Integer(70_000)));
    assert_eq!(UnstructuredCborCodec.encode(&object).unwrap(), stored);
    assert_eq!(codec().decode(stored).unwrap(), widget());
}

#[test]
fn types_of_kubernetes_are_read_and_written() {
    let objects = data(include_str!("data/objects.json"));
    let stored = data(include_str!("data/cbor-objects.json"));
    fn check<T: DeserializeOwned + Serialize>(stored: &[u8], content: &serde_json::Value) {
        let object: T = cbor::from_slice(stored).unwrap();
        assert_eq!(serde_json::to_value(&object).unwrap(), *content);
        let written = cbor::to_vec(&object).unwrap();
        assert_eq!(cbor::from_slice::<serde_json::Value>(&written).unwrap(), *content);
    }
    let mut checked = 0;
    for (content, stored) in list(&objects, "objects").iter().zip(list(&stored, "objects")) {
        let content = &content["object"];
        for form in ["cbor", "typed"] {
            let Some(stored) = stored.get(form).map(base64) else { continue };
            match content["kind"].as_str().unwrap() {
                "ConfigMap" => check::<ConfigMap>(&stored, content),
                "Secret" => check::<Secret>(&stored, content),
                _ => continue,
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 4);
}

#[test]
fn an_object_of_another_kind_is_not_decoded() {
    let gadget = CborCodec::of("shop.example.com/v1", "Gadget").encode(&widget()).unwrap();
    assert_eq!(
        codec().decode(gadget.clone()).unwrap_err().to_string(),
        "the value is an object of another kind"
    );
    assert_eq!(codec().with_skim().skim(&gadget, &Wanted::default()).unwrap(), None);
    assert!(CborCodec::<Widget>::new().encode(&widget()).is_err());
    assert!(codec().decode(cbor::to_vec(&widget()).unwrap().into()).is_err());
}

#[test]
fn a_selector_is_answered_from_the_bytes_when_asked_for() {
    let stored = codec().encode(&widget()).unwrap();
    let wanted = Wanted::new(vec!["app".into(), "no".into()], vec!["size".into(), "ratio".into()]);
    assert_eq!(codec().skim(&stored, &wanted).unwrap(), None);
    let found = codec().with_skim().skim(&stored, &wanted).unwrap().unwrap();
    assert_eq!(found, MetadataVersioner.find(&widget(), &wanted));
    assert_eq!(found.fields, [Some(Cow::from("70000")), Some(Cow::from("0.5"))]);
}

#[test]
fn a_wrong_form_is_told_without_content() {
    let stored = json!({
        "kind": "Widget", "apiVersion": "v1", "metadata": {"name": "a"}, "size": "s3cr3t"
    });
    let error = codec().decode(cbor::to_vec(&stored).unwrap().into()).unwrap_err();
    assert_eq!(error.to_string(), "the value does not have the form of its type");
    assert_eq!(error.source().unwrap().to_string(), "expected u32 at byte 21");
    for (document, message) in [
        (json!({"size": 1}), "missing field `metadata`"),
        (json!({"size": -1}), "expected u32"),
        (json!({"metadata": {}, "size": [1]}), "expected u32"),
        (json!("s3cr3t"), "expected struct Widget"),
    ] {
        let error = cbor::from_slice::<Widget>(&cbor::to_vec(&document).unwrap()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
        assert!(error.rsplit_once(" at byte ").is_some(), "{error}");
    }
    for error in [
        cbor::from_slice::<Choice>(&cbor::to_vec("s3cr3t").unwrap()).unwrap_err(),
        cbor::from_slice::<Strict>(&cbor::to_vec(&json!({"s3cr3t": 1})).unwrap()).unwrap_err(),
        cbor::from_slice::<char>(&cbor::to_vec("s3cr3t").unwrap()).unwrap_err(),
        cbor::from_slice::<std::net::IpAddr>(&cbor::to_vec("s3cr3t").unwrap()).unwrap_err(),
        cbor::from_slice::<BTreeMap<u8, u8>>(&cbor::to_vec(&json!({"s3cr3t": 1})).unwrap()).unwrap_err(),
    ] {
        assert!(!format!("{error} {error:?}").contains("s3cr3t"), "{error}");
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Choice {
    Unit,
    Newtype(u8),
    Tuple(i8, String),
    Struct { port: Option<u16>, on: bool },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Name(String);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum IntOrText {
    Int(i32),
    Text(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    choices: Vec<Choice>,
    names: BTreeMap<Name, Option<()>>,
    numbers: BTreeMap<i16, f32>,
    flags: BTreeMap<bool, char>,
    choice_keys: BTreeMap<String, (u8, i64)>,
    ports: Vec<IntOrText>,
    nothing: (),
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[test]
fn types_of_every_shape_come_back() {
    let everything = Everything {
        choices: vec![
            Choice::Unit,
            Choice::Newtype(255),
            Choice::Tuple(-1, "x".into()),
            Choice::Struct { port: Some(80), on: true },
            Choice::Struct { port: None, on: false },
        ],
        names: BTreeMap::from([(Name("long".into()), None), (Name("b".into()), None)]),
        numbers: BTreeMap::from([(-2, 1.5), (10, 0.1)]),
        flags: BTreeMap::from([(true, 'é')]),
        choice_keys: BTreeMap::from([("k".into(), (1, i64::MIN))]),
        ports: vec![IntOrText::Int(-5), IntOrText::Text("http".into())],
        nothing: (),
        rest: BTreeMap::from([("more".into(), Value::from(vec![Value::Null, 2.5.into()]))]),
    };
    let written = cbor::to_vec(&everything).unwrap();
    assert_eq!(cbor::from_slice::<Everything>(&written).unwrap(), everything);
    // The same shape as in JSON.
    let as_json: serde_json::Value = cbor::from_slice(&written).unwrap();
    let mut expected = serde_json::to_value(&everything).unwrap();
    expected["numbers"]["10"] = f64::from(0.1_f32).into();
    assert_eq!(as_json, expected);
}

#[test]
fn variants_and_tuples_take_what_belongs_to_them_and_no_more() {
    let read = |json: serde_json::Value| cbor::from_slice::<Choice>(&cbor::to_vec(&json).unwrap());
    assert_eq!(read(json!({"unit": null})).unwrap(), Choice::Unit);
    for wrong in [
        json!({"unit": 1}),
        json!({}),
        json!({"newtype": 1, "unit": null}),
        json!({"tuple": [1]}),
        json!({"tuple": [1, "x", 2]}),
        json!("newtype"),
        json!(5),
    ] {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn text_is_borrowed_where_it_can_be() {
    let document = b"\xa1\x41a\x82\x42hi\x62ho";
    let borrowed: BTreeMap<&str, Vec<&str>> = cbor::from_slice(document).unwrap();
    assert_eq!(borrowed, BTreeMap::from([("a", vec!["hi", "ho"])]));
    assert!(cbor::from_slice::<&str>(b"\x7f\x61a\xff").is_err());
    let range = document.as_ptr_range();
    assert!(range.contains(&borrowed["a"][1].as_ptr()));
}

#[test]
fn metadata_are_there_without_decoding() {
    let stored = data(include_str!("data/cbor-objects.json"));
    for case in list(&stored, "objects") {
        let stored = Bytes::from(base64(&case["cbor"]));
        let Ok(object) = UnstructuredCborCodec.decode(stored.clone()) else { continue };
        let opaque = Opaque::new(stored.clone()).unwrap();
        assert_eq!(opaque.stored(), &stored);
        assert_eq!(
            (opaque.api_version(), opaque.kind(), opaque.name(), opaque.namespace(), opaque.uid()),
            (object.api_version(), object.kind(), object.name(), object.namespace(), object.uid())
        );
        let labels: BTreeMap<_, _> = opaque.labels().collect();
        let own = object.labels().into_iter().flat_map(|labels| labels.iter());
        assert_eq!(labels, own.map(|(key, value)| (key, value.as_str().unwrap())).collect());
        assert_eq!(opaque.annotations().count(), object.annotations().map_or(0, |found| found.len()));
        assert_eq!(opaque.decode::<Unstructured>().unwrap(), object);
    }
}
