//! Objects in whatever encoding they are stored.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use k8s_openapi::api::core::v1::ConfigMap;
use kubestore_codec::{
    StorageCodec, Unstructured, UnstructuredCodec, WriteAs,
    cbor::UnstructuredCborCodec,
    protobuf::{Envelope, UnstructuredProtobufCodec},
};
use kubestore_core::{Codec, Wanted};

fn config_map() -> Unstructured {
    let mut object = Unstructured::new("v1", "ConfigMap", "ns1", "conf");
    object.set_label("app", "web");
    object.set_pointer("/data/a", "1").unwrap();
    object
}

/// The object in every form in which it may be stored.
fn stored(object: &Unstructured) -> Vec<(&'static str, Bytes)> {
    let protobuf = UnstructuredProtobufCodec.encode(object).unwrap();
    let base64 = STANDARD.encode(&protobuf).into();
    vec![
        ("protobuf", protobuf),
        ("JSON", UnstructuredCodec.encode(object).unwrap()),
        ("CBOR", UnstructuredCborCodec.encode(object).unwrap()),
        ("base64", base64),
    ]
}

#[test]
fn every_encoding_is_read_and_selected_from() {
    let wanted = Wanted::new(vec!["app".into()], vec!["metadata.name".into()]);
    for (encoding, data) in stored(&config_map()) {
        let codec = StorageCodec::unstructured();
        assert_eq!(codec.decode(data.clone()).unwrap(), config_map(), "{encoding}");
        let typed = StorageCodec::<ConfigMap>::of("v1", "ConfigMap").decode(data.clone()).unwrap();
        assert_eq!(typed.data.unwrap()["a"], "1", "{encoding}");
        if let Some(found) = codec.skim(&data, &wanted).unwrap() {
            assert_eq!(found.labels[0].as_deref(), Some("web"), "{encoding}");
            assert_eq!(found.fields[0].as_deref(), Some("conf"), "{encoding}");
        } else {
            assert_eq!(encoding, "base64");
        }
    }
}

#[test]
fn objects_are_written_as_an_api_server_writes_them() {
    let codec = StorageCodec::unstructured();
    for (api_version, kind, start) in [
        ("v1", "ConfigMap", &b"k8s\0"[..]),
        ("apps/v1", "Deployment", b"k8s\0"),
        ("shop.example.com/v1", "Widget", b"{"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", b"{"),
        ("apiregistration.k8s.io/v1", "APIService", b"{"),
    ] {
        let written = codec.encode(&Unstructured::new(api_version, kind, "", "a")).unwrap();
        assert!(written.starts_with(start), "{api_version} {kind}");
    }
    let json = StorageCodec::unstructured().writing(WriteAs::Json).encode(&config_map()).unwrap();
    assert_eq!(json, UnstructuredCodec.encode(&config_map()).unwrap());
    let cbor = StorageCodec::unstructured().writing(WriteAs::Cbor).encode(&config_map()).unwrap();
    assert_eq!(cbor, UnstructuredCborCodec.encode(&config_map()).unwrap());
    let typed = StorageCodec::<ConfigMap>::of("v1", "ConfigMap");
    let object = typed.decode(json).unwrap();
    assert_eq!(typed.encode(&object).unwrap(), UnstructuredProtobufCodec.encode(&config_map()).unwrap());
}

#[test]
fn objects_of_another_kind_are_refused_in_every_encoding() {
    let codec = StorageCodec::<ConfigMap>::of("v1", "ConfigMap");
    for (encoding, data) in stored(&Unstructured::new("v1", "Secret", "ns1", "a")) {
        codec.decode(data).expect_err(encoding);
    }
}

#[test]
fn what_is_not_stored_by_kubernetes_is_refused() {
    for (data, told) in [
        (&b""[..], "the value is not JSON"),
        (b"k8s\0", "the value cannot be read as protobuf"),
        (b"k8s", "the value is not JSON"),
        (b"apiVersion: v1\nkind: ConfigMap\n", "the value is not JSON"),
        // Base64 of nothing that is stored.
        (b"AAAA", "the value is not JSON"),
        (
            b"k8s:enc:aesgcm:v1:key1:x",
            "the value is encrypted by provider \"aesgcm\" with key \"key1\": configure that provider",
        ),
    ] {
        let error = StorageCodec::unstructured().decode(Bytes::from_static(data)).unwrap_err();
        assert_eq!(error.to_string(), told);
    }
}

#[test]
fn an_object_with_fields_of_a_later_version_is_marked_and_not_written() {
    let message = b"\x0a\x03\x0a\x01a\x12\x08\x0a\x01h\x98\x06\x01\x10\x00\xa0\x06\x02";
    let stored: Bytes = Envelope::new("coordination.k8s.io/v1", "Lease", message).to_vec().into();
    for data in [stored.clone(), STANDARD.encode(&stored).into()] {
        let codec = StorageCodec::unstructured();
        let lease = codec.decode(data.clone()).unwrap();
        let unknown: Vec<_> =
            lease.unknown_fields().iter().map(|field| (field.path.as_str(), field.number)).collect();
        assert_eq!(unknown, [("spec", 99), ("", 100)]);
        assert_eq!(
            codec.encode(&lease).unwrap_err().to_string(),
            "spec was stored with a field number 99 of a later version of Kubernetes, which would be lost"
        );
        codec.replaceable(&data).unwrap_err();
    }
    for (encoding, data) in self::stored(&config_map()) {
        StorageCodec::unstructured().replaceable(&data).expect(encoding);
    }
}

/// What the reference's storage codec made of stored bytes, the typed codec makes of them too.
#[test]
fn recorded_values_are_read_or_refused_as_by_the_reference() {
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("data/storage-decode.json")).unwrap();
    assert_eq!(cases.len(), 29);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let stored: Bytes = STANDARD.decode(case["stored"].as_str().unwrap()).unwrap().into();
        let codec = StorageCodec::<ConfigMap>::of("v1", "ConfigMap");
        match (codec.decode(stored), case["object"].as_object()) {
            (Ok(object), Some(expected)) => {
                assert_eq!(
                    serde_json::json!(object.data),
                    expected.get("data").cloned().unwrap_or_default(),
                    "{name}"
                );
            }
            // The reference was asked for another type here.
            (Ok(_), None) => assert_eq!(name, "into another type"),
            (Err(_), None) => {}
            (Err(error), Some(_)) => panic!("{name}: {error}"),
        }
    }
}
