//! `Unstructured` against what the reference reads and writes.

mod common;

use bytes::Bytes;
use common::{Random, base64, data, list, mutate};
use kubestore_codec::{Array, MAX_DEPTH, Map, Unstructured, UnstructuredCodec, UnstructuredVersioner, Value};
use kubestore_core::{Codec, CodecError, Versioner, Wanted};

fn decode(document: impl Into<Vec<u8>>) -> Result<Unstructured, CodecError> {
    UnstructuredCodec.decode(Bytes::from(document.into()))
}

fn encode(object: &Unstructured) -> Result<Vec<u8>, CodecError> {
    UnstructuredCodec.encode(object).map(|bytes| bytes.to_vec())
}

#[test]
fn documents_are_read_and_written_as_the_reference_does() {
    let cases = data(include_str!("data/json-cases.json"));
    for case in list(&cases, "cases") {
        let document = base64(&case["document"]);
        let shown = String::from_utf8_lossy(&document).into_owned();
        match (decode(document.clone()), case["error"].as_str()) {
            (Ok(object), None) => {
                let written = encode(&object).unwrap();
                assert_eq!(
                    String::from_utf8_lossy(&written),
                    String::from_utf8_lossy(&base64(&case["encoded"])),
                    "{shown}"
                );
            }
            (Err(error), Some(kind)) => {
                assert_eq!(
                    error.status_message().starts_with("Object 'Kind' is missing"),
                    kind == "kind",
                    "{shown}"
                );
            }
            (Ok(_), Some(_)) => panic!("accepted: {shown}"),
            (Err(error), None) => panic!("{error} ({:?}): {shown}", std::error::Error::source(&error)),
        }
    }
}

#[test]
fn values_that_the_reference_wrote_are_written_again_byte_for_byte() {
    for value in list(&data(include_str!("data/recorded-values.json")), "values") {
        let stored = base64(value);
        assert_eq!(encode(&decode(stored.clone()).unwrap()).unwrap(), stored);
    }
}

#[test]
fn real_objects_are_the_same_whatever_form_they_are_stored_in() {
    let objects = data(include_str!("data/objects.json"));
    for case in list(&objects, "objects") {
        let stored = base64(&case["unstructuredJSON"]);
        let content = Unstructured::try_from(case["object"].clone()).unwrap();
        let object = decode(stored.clone()).unwrap();
        assert_eq!(encode(&object).unwrap(), stored, "{}", case["name"]);
        assert_eq!(serde_json::Value::try_from(&object).unwrap(), case["object"]);
        assert_eq!(serde_json::from_value::<Unstructured>(case["object"].clone()).unwrap(), content);
        for other in ["json", "source"] {
            if case.get(other).is_some() {
                let object = decode(base64(&case[other])).unwrap();
                assert_eq!(encode(&object).unwrap(), stored, "{} from {other}", case["name"]);
            }
        }
    }
}

#[test]
fn an_object_without_kind_is_quoted_to_the_client_and_nowhere_else() {
    let error = decode(*b"{\"metadata\":{\"name\":\"secret\"}}\n").unwrap_err();
    assert_eq!(
        error.status_message(),
        "Object 'Kind' is missing in '{\"metadata\":{\"name\":\"secret\"}}\n'"
    );
    assert!(!format!("{error} {error:?}").contains("secret"));
    for (document, quoted) in [("null", "null"), ("{}", "{}"), ("{\"kind\":5}", "{\"kind\":5}")] {
        let message = decode(document).unwrap_err().status_message().to_owned();
        assert_eq!(message, format!("Object 'Kind' is missing in '{quoted}'"));
    }
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let mut object = Unstructured::default();
    assert_eq!(encode(&object).unwrap_err().status_message(), "Object 'Kind' is missing in '{}\n'");
    object.set_kind("Pod");
    assert_eq!(
        encode(&object).unwrap_err().status_message(),
        "Object 'apiVersion' is missing in '{\"kind\":\"Pod\"}\n'"
    );
    object.set_api_version("a/b/c");
    assert_eq!(
        encode(&object).unwrap_err().status_message(),
        "Object 'Kind' is missing in '{\"apiVersion\":\"a/b/c\",\"kind\":\"Pod\"}\n'"
    );
    object.set_api_version("v1");
    for not_a_number in [f64::NAN, f64::INFINITY] {
        object.insert("spec", not_a_number);
        assert_eq!(encode(&object).unwrap_err().to_string(), "the object cannot be written as JSON");
    }
    object.insert("spec", 1.0);
    assert_eq!(encode(&object).unwrap(), b"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"spec\":1}\n");
}

#[test]
fn an_object_found_without_api_version_can_be_written_back() {
    let mut object = decode("{\"kind\":\"Pod\"}").unwrap();
    object.set_label("a", "b");
    let written = b"{\"kind\":\"Pod\",\"metadata\":{\"labels\":{\"a\":\"b\"}}}\n";
    assert_eq!(encode(&object.clone()).unwrap(), written);
    let mut object = decode("{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}").unwrap();
    object.remove("apiVersion");
    assert!(encode(&object).is_err());
}

#[test]
fn other_encodings_are_called_by_their_name() {
    for (stored, message) in [
        (&b"k8s\0\x0a"[..], "the value is stored as protobuf, which this release cannot decode yet"),
        (b"\xd9\xd9\xf7\xa0", "the value is stored as CBOR, which this release cannot decode yet"),
        (
            b"k8s:enc:aesgcm:v1:key1:\x00",
            "the value is encrypted by provider \"aesgcm\" with key \"key1\": configure that provider",
        ),
        (b"k8s:enc:x", "the value is encrypted: configure its provider"),
        (b"not json", "the value is not JSON"),
        (b"[]", "the value is not an object but an array"),
        (b"\"x\"", "the value is not an object but text"),
    ] {
        assert_eq!(decode(stored).unwrap_err().to_string(), message);
    }
    let error = decode("{\"kind\": \"Pod\", }").unwrap_err();
    let cause = std::error::Error::source(&error).unwrap();
    assert_eq!(cause.to_string(), "expected the name of a member at byte 16");
    let error = decode("{\"kind\": \"Po").unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "unexpected end at byte 12");
}

/// `levels` containers in all, as a document.
fn nested(levels: usize, open: &str, close: &str) -> String {
    let inside = levels - 1;
    format!(
        "{{\"apiVersion\":\"v1\",\"deep\":{}1{},\"kind\":\"Pod\"}}\n",
        open.repeat(inside),
        close.repeat(inside)
    )
}

#[test]
fn depth_is_limited_and_needs_no_stack() {
    let work = || {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[0,{\"a\":[],\"b\":", "}]")] {
            let containers = if open.len() > 6 { MAX_DEPTH / 2 } else { MAX_DEPTH };
            let document = nested(containers, open, close);
            let object = decode(document.clone()).unwrap();
            let copy = object.clone();
            assert!(copy == object);
            assert_eq!(encode(&copy).unwrap(), document.as_bytes());
            for levels in [containers + 1, 100_000] {
                let document = nested(levels, open, close);
                assert_eq!(decode(document.clone()).unwrap_err().to_string(), "the value is not JSON");
                assert!(decode(&document[..document.len() / 2]).is_err());
                let wanted = Wanted::new(vec!["a".into()], Vec::new());
                assert_eq!(UnstructuredCodec.skim(document.as_bytes(), &wanted).unwrap(), None);
            }
        }
        let mut value = Value::Null;
        for _ in 0..100_000 {
            value = Value::Array(Array::from(vec![value]));
        }
        let mut object = Unstructured::new("v1", "Pod", "", "a");
        object.insert("deep", value);
        let error = encode(&object).unwrap_err();
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "nested deeper than 10000 levels");
    };
    std::thread::Builder::new().stack_size(256 * 1024).spawn(work).unwrap().join().unwrap();
}

#[test]
fn serde_refuses_what_would_exhaust_its_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let object = decode(nested(MAX_DEPTH, open, close)).unwrap();
        assert_eq!(serde_json::to_string(&object).unwrap_err().to_string(), "nested deeper than 512 levels");
        assert!(serde_json::Value::try_from(&object).is_err());
        let object = decode(nested(512, open, close)).unwrap();
        let _: serde_json::Value = (&object).try_into().unwrap();
    }
}

#[test]
fn resource_versions_are_read_and_set_as_the_reference_does() {
    let cases = data(include_str!("data/versioner.json"));
    for case in list(&cases, "objectResourceVersion") {
        let mut object = Unstructured::default();
        object.set_pointer("/metadata/resourceVersion", case["resourceVersion"].as_str().unwrap()).unwrap();
        match UnstructuredVersioner.resource_version(&object) {
            Ok(number) => assert_eq!(number.to_string(), case["value"].as_str().unwrap()),
            Err(error) => assert_eq!(error.to_string(), case["err"].as_str().unwrap()),
        }
    }
    for case in list(&cases, "updateObject") {
        let before = if case["before"].is_null() { serde_json::json!({}) } else { case["before"].clone() };
        let mut object = Unstructured::try_from(before).unwrap();
        let number = case["value"].as_str().unwrap().parse().unwrap();
        UnstructuredVersioner.set_resource_version(&mut object, number).unwrap();
        assert_eq!(serde_json::Value::try_from(&object).unwrap(), case["after"]);
    }
    let mut number = decode("{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":5}}").unwrap();
    assert_eq!(UnstructuredVersioner.resource_version(&number), Ok(0));
    UnstructuredVersioner.prepare_for_storage(&mut number).unwrap();
    assert_eq!(encode(&number).unwrap(), b"{\"kind\":\"Pod\",\"metadata\":{}}\n");
}

#[test]
fn odd_metadata_is_left_alone() {
    for metadata in ["7", "null", "[]", "\"x\""] {
        let document = format!("{{\"kind\":\"Pod\",\"metadata\":{metadata}}}\n");
        let mut object = decode(document.clone()).unwrap();
        UnstructuredVersioner.set_resource_version(&mut object, 5).unwrap();
        UnstructuredVersioner.prepare_for_storage(&mut object).unwrap();
        object.set_label("a", "b");
        assert_eq!(encode(&object).unwrap(), document.as_bytes());
        assert_eq!((object.name(), object.uid(), object.resource_version()), ("", "", ""));
    }
}

#[test]
fn a_list_gets_its_version_and_an_error() {
    let mut list = decode("{\"kind\":\"PodList\",\"items\":[],\"metadata\":{\"selfLink\":\"x\"}}").unwrap();
    let error = UnstructuredVersioner.set_resource_version(&mut list, 5).unwrap_err();
    assert_eq!(error.to_string(), "the value is a list (it has `items`), not an object");
    assert_eq!(list.resource_version(), "5");
    UnstructuredVersioner.prepare_for_storage(&mut list).unwrap();
    assert_eq!(encode(&list).unwrap(), b"{\"items\":[],\"kind\":\"PodList\",\"metadata\":{}}\n");
}

#[test]
fn pointers_reach_set_and_remove() {
    let mut object = Unstructured::new("v1", "Pod", "ns1", "a");
    object.set_pointer("/metadata/annotations/example.com~1a~0b", "x").unwrap();
    assert_eq!(object.annotations().unwrap().get("example.com/a~b").unwrap().as_str(), Some("x"));
    object.insert("spec", Map::from_iter([("list", Value::from(vec![Value::Null, 1.into()]))]));
    assert_eq!(object.set_pointer("/spec/list/1", 2).unwrap(), Some(Value::Integer(1)));
    object.set_pointer("/spec/list/-", 3).unwrap();
    object.set_pointer("/spec/list/0/x/y", true).unwrap();
    assert_eq!(object.pointer("/spec/list/0/x/y"), Some(&Value::Bool(true)));
    assert_eq!(object.pointer("/spec/list/01"), None);
    assert_eq!(object.remove_pointer("/spec/list/1"), Some(Value::Integer(2)));
    assert_eq!(object.pointer("/spec/list/1"), Some(&Value::Integer(3)));
    assert_eq!(object.remove_pointer("/metadata/annotations/example.com~1a~0b"), Some("x".into()));
    for (pointer, why) in [
        ("", "cannot set ``: it is empty"),
        ("spec", "cannot set `spec`: it does not start with `/`"),
        ("/spec/list/9/x", "cannot set `/spec/list/9/x`: there is no such place in the array"),
        ("/kind/x", "cannot set `/kind/x`: something on the way is neither object nor array"),
    ] {
        assert_eq!(object.set_pointer(pointer, 1).unwrap_err().to_string(), why);
        assert_eq!(object.pointer(pointer), None);
    }
}

#[test]
fn maps_are_sorted_and_the_last_of_equal_names_counts() {
    let mut map: Map = [("b", 1), ("a", 2), ("b", 3), ("c", 4), ("a", 5)].into_iter().collect();
    assert_eq!(map.iter().collect::<Vec<_>>(), [("a", &5.into()), ("b", &3.into()), ("c", &4.into())]);
    map.extend([("c", 6), ("0", 7)]);
    assert_eq!(map.keys().collect::<Vec<_>>(), ["0", "a", "b", "c"]);
    assert_eq!(map.insert("b", "x"), Some(Value::Integer(3)));
    assert_eq!(map.remove("c"), Some(Value::Integer(6)));
    assert_eq!(map.remove("c"), None);
    assert!(Value::Integer(1) != Value::Float(1.0));
}

#[test]
fn mutated_objects_never_do_harm() {
    let objects = data(include_str!("data/objects.json"));
    let mut random = Random::new(9);
    let mut decoded = 0;
    for case in list(&objects, "objects").iter().cycle().take(10_000) {
        let document = mutate(&mut random, &base64(&case["unstructuredJSON"]));
        if let Ok(mut object) = decode(document) {
            let first = encode(&object).unwrap();
            UnstructuredVersioner.set_resource_version(&mut object, 1).unwrap_or_default();
            UnstructuredVersioner.prepare_for_storage(&mut object).unwrap();
            assert_eq!(encode(&decode(first.clone()).unwrap()).unwrap(), first);
            assert_eq!(encode(&decode(encode(&object).unwrap()).unwrap()).unwrap(), encode(&object).unwrap());
            decoded += 1;
        }
    }
    assert!(decoded > 1_000, "{decoded}");
}

#[test]
fn debug_shows_no_content() {
    let object =
        decode("{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"data\":{\"key\":\"c2VjcmV0\"}}").unwrap();
    assert_eq!(format!("{object:?}"), "Unstructured(v1 Secret )");
    let map = object.into_map();
    assert_eq!(format!("{map:?} {:?}", map.get("kind")), "Object(3 members) Some(String(6 bytes))");
}

#[test]
fn serde_reads_numbers_as_the_decoder_does() {
    let text = r#"{"a":[1,-1,9223372036854775808,1.0,1e3],"b":{"n":null,"t":true}}"#;
    let map: Map = serde_json::from_str(text).unwrap();
    let numbers = map.get("a").unwrap().as_array().unwrap();
    assert_eq!(numbers[..2], [Value::Integer(1), Value::Integer(-1)]);
    assert_eq!(numbers[2..], [9_223_372_036_854_775_808.0.into(), 1.0.into(), 1000.0.into()]);
    assert_eq!(Map::from(serde_json::from_str::<serde_json::Map<_, _>>(text).unwrap()), map);
    assert!(serde_json::from_str::<Map>("[]").is_err());
    let again: Array = serde_json::from_str(&serde_json::to_string(numbers).unwrap()).unwrap();
    assert_eq!(again, *numbers);
}
