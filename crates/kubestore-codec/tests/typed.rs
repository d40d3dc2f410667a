//! Objects of types of one's own.

mod common;

use std::{collections::HashMap, error::Error as _};

use bytes::Bytes;
use common::{Random, mutate};
use kubestore_codec::{
    HasMetadata, JsonCodec, MetadataVersioner, ObjectMetadata, Unstructured, UnstructuredCodec,
    UnstructuredVersioner,
};
use kubestore_core::{Codec, Versioner, Wanted};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Widget {
    zeta: u64,
    #[serde(default)]
    metadata: ObjectMetadata,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec: Option<Spec>,
    #[serde(default)]
    map: HashMap<String, f64>,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: String,
    on: bool,
    n: i32,
}

impl HasMetadata for Widget {
    fn metadata(&self) -> &ObjectMetadata {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMetadata {
        &mut self.metadata
    }
}

fn codec() -> JsonCodec<Widget> {
    JsonCodec::of("shop.example.com/v1", "Widget")
}

fn widget() -> Widget {
    let mut metadata = ObjectMetadata::named("ns1", "a");
    metadata.labels.insert("app".into(), "<web>".into());
    Widget {
        zeta: u64::MAX,
        metadata,
        spec: Some(Spec { node_name: "n1".into(), on: true, n: -3 }),
        map: (0..30).map(|n| (format!("k{n:02}"), f64::from(n) / 2.0)).collect(),
    }
}

#[test]
fn what_is_written_is_canonical_and_keeps_large_numbers() {
    let mut short = widget();
    short.map = HashMap::from([("b".into(), 1e21), ("a".into(), 3.0)]);
    let stored = codec().encode(&short).unwrap();
    assert_eq!(
        stored,
        concat!(
            r#"{"apiVersion":"shop.example.com/v1","kind":"Widget","map":{"a":3,"b":1e+21},"#,
            r#""metadata":{"labels":{"app":"\u003cweb\u003e"},"name":"a","namespace":"ns1"},"#,
            r#""spec":{"n":-3,"nodeName":"n1","on":true},"zeta":18446744073709551615}"#,
            "\n"
        )
    );
    assert_eq!(codec().decode(stored).unwrap(), short);
    // Hash maps have another order each time.
    let stored = codec().encode(&widget()).unwrap();
    assert!((0..20).all(|_| codec().encode(&widget()).unwrap() == stored));
}

#[test]
fn the_type_is_supplied_only_where_it_is_missing() {
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Own {
        api_version: Option<String>,
        kind: String,
    }
    let own = |version: Option<&str>, kind: &str| Own {
        api_version: version.map(str::to_owned),
        kind: kind.to_owned(),
    };
    let codec = JsonCodec::<Own>::of("v1", "Own");
    let written = r#"{"apiVersion":"v1","kind":"Own"}"#.to_owned() + "\n";
    assert_eq!(codec.encode(&own(None, "")).unwrap(), written);
    assert_eq!(codec.encode(&own(Some("v1"), "Own")).unwrap(), written);
    let other = codec.encode(&own(Some("v2"), "Own")).unwrap();
    assert_eq!(other, "{\"apiVersion\":\"v2\",\"kind\":\"Own\"}\n");

    let bare = JsonCodec::<Own>::new();
    assert_eq!(bare.encode(&own(Some("v1"), "Own")).unwrap(), written);
    let message = bare.encode(&own(Some("v1"), "")).unwrap_err().status_message().to_owned();
    assert_eq!(message, "Object 'Kind' is missing in '{\"apiVersion\":\"v1\",\"kind\":\"\"}\n'");
    let message = bare.encode(&own(None, "Own")).unwrap_err().status_message().to_owned();
    assert_eq!(message, "Object 'apiVersion' is missing in '{\"apiVersion\":null,\"kind\":\"Own\"}\n'");
    assert!(JsonCodec::<u32>::new().encode(&3).is_err());
}

#[test]
fn documents_that_only_the_reference_reads_are_read() {
    let read = |document: &[u8]| codec().decode(Bytes::copy_from_slice(document)).unwrap();
    let plain = read(br#"{"kind":"Widget","zeta":1}"#);
    assert_eq!(read(br#"{"kind":"Widget","zeta":2,"zeta":1}"#), plain);
    assert_eq!(read(br#"{"kind":"Other","kind":"Widget","zeta":1}"#), plain);
    assert_eq!(read(b"{\"kind\":\"Widget\",\"zeta\":1,\"x\":\"\xff\"}"), plain);
    let odd = read(br#"{"kind":"Widget","zeta":1,"spec":{"nodeName":"a\ud800b","on":false,"n":0}}"#);
    assert_eq!(odd.spec.unwrap().node_name, "a\u{fffd}b");
}

#[test]
fn errors_name_the_place_and_never_the_content() {
    let refused = |document: &str| {
        let error = codec().decode(Bytes::from(document.to_owned())).unwrap_err();
        let cause = error.source().map(ToString::to_string).unwrap_or_default();
        assert!(!format!("{error}{cause}{error:?}").contains("secret"), "{error} {cause}");
        (error.to_string(), cause)
    };
    let form = "the value does not have the form of its type".to_owned();
    assert_eq!(
        refused(r#"{"kind":"Widget","zeta":"secret, expected"}"#),
        (form.clone(), "expected u64 at line 1 column 42".to_owned())
    );
    assert_eq!(
        refused(r#"{"kind":"Widget"}"#),
        (form, "missing field `zeta` at line 1 column 17".to_owned())
    );
    assert_eq!(refused(r#"{"kind":"Secret"}"#).0, "the value is an object of another kind");
    assert_eq!(refused("{").0, "the value is not JSON");
    assert_eq!(refused("k8s\0").0, "the value is stored as protobuf, which this release cannot decode yet");
    let error = codec().decode(Bytes::from_static(b"{\"zeta\":1}")).unwrap_err();
    assert_eq!(error.status_message(), "Object 'Kind' is missing in '{\"zeta\":1}'");
}

#[test]
fn metadata_are_versioned() {
    let mut object = widget();
    object.metadata.other.insert("selfLink", "x");
    object.metadata.other.insert("generation", 4);
    assert_eq!(MetadataVersioner.resource_version(&object), Ok(0));
    MetadataVersioner.set_resource_version(&mut object, 12).unwrap();
    assert_eq!(MetadataVersioner.resource_version(&object), Ok(12));
    let text = serde_json::to_value(&object.metadata).unwrap();
    let metadata: ObjectMetadata = serde_json::from_value(text).unwrap();
    assert_eq!(metadata, object.metadata);
    MetadataVersioner.prepare_for_storage(&mut object).unwrap();
    let text = serde_json::to_string(&object.metadata).unwrap();
    assert_eq!(text, r#"{"name":"a","namespace":"ns1","labels":{"app":"<web>"},"generation":4}"#);
    object.metadata.resource_version = "x".into();
    assert!(MetadataVersioner.resource_version(&object).is_err());
    MetadataVersioner.set_resource_version(&mut object, 0).unwrap();
    assert_eq!(object.metadata.resource_version, "");
    assert_eq!(format!("{:?}", object.metadata), "ObjectMetadata(ns1/a)");
}

fn question() -> Wanted {
    let fields =
        ["metadata.name", "metadata.namespace", "spec.nodeName", "spec.on", "spec.n", "spec.gone", "spec"];
    Wanted::new(vec!["app".into(), "gone".into()], fields.map(str::to_owned).to_vec())
}

#[test]
fn selectors_get_the_same_answers_everywhere() {
    let stored = codec().encode(&widget()).unwrap();
    let object = widget();
    let found = MetadataVersioner.find(&object, &question());
    let answers: Vec<_> = found.fields.iter().map(|field| field.as_deref()).collect();
    assert_eq!(answers, [Some("a"), Some("ns1"), Some("n1"), Some("true"), Some("-3"), None, None]);
    assert_eq!(found.labels[0].as_deref(), Some("<web>"));
    assert_eq!(codec().skim(&stored, &question()).unwrap(), None);
    assert_eq!(codec().with_skim().skim(&stored, &question()).unwrap(), Some(found.clone()));
    let other: Unstructured = UnstructuredCodec.decode(stored).unwrap();
    assert_eq!(UnstructuredVersioner.find(&other, &question()), found);
    let other = codec().with_skim().skim(br#"{"kind":"Other"}"#, &question());
    assert_eq!(other.unwrap(), None);
}

#[test]
fn mutated_documents_are_decoded_or_refused() {
    let stored = codec().encode(&widget()).unwrap();
    let mut random = Random::new(3);
    let mut decoded = 0;
    for _ in 0..20_000 {
        let document = Bytes::from(mutate(&mut random, &stored));
        if let Ok(object) = codec().decode(document) {
            let written = codec().encode(&object).unwrap();
            assert_eq!(codec().decode(written).unwrap(), object);
            decoded += 1;
        }
    }
    assert!(decoded > 1_000, "{decoded}");
}
