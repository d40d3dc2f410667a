//! Kubernetes' protobuf against what kube-apiserver wrote.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kubestore_codec::protobuf::{
    Deserializer, ProtobufError, ProtobufErrorKind, Release, Serializer, from_slice,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Recorded {
    objects: Vec<Stored>,
    decode: Vec<Decoded>,
}

#[derive(Deserialize)]
struct Stored {
    name: String,
    object: Value,
    protobuf: String,
    json: String,
}

#[derive(Deserialize)]
struct Decoded {
    name: String,
    object: Option<Value>,
    err: Option<String>,
    stored: String,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("data/protobuf-objects.json")).unwrap()
}

fn bytes(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).unwrap()
}

/// The version that wrote the recordings.
const RECORDED: Release = Release::of_minor(31);

fn read(stored: &[u8]) -> Result<Value, ProtobufError> {
    Value::deserialize(Deserializer::new(stored)?.release(RECORDED))
}

fn write(object: &Value) -> Result<Vec<u8>, ProtobufError> {
    Serializer::new().release(RECORDED).to_vec(object)
}

#[test]
fn recorded_objects_are_read() {
    let objects = recorded().objects;
    assert_eq!(objects.len(), 16);
    for Stored { name, object, protobuf, .. } in objects {
        let stored = bytes(&protobuf);
        assert_eq!(read(&stored).unwrap(), object, "{name}");
        let mut today = object;
        today["metadata"].as_object_mut().unwrap().retain(|_, value| !value.is_null());
        let printed: Value = from_slice(&stored).unwrap();
        assert_eq!(printed["metadata"], today["metadata"], "{name}");
    }
}

#[test]
fn recorded_objects_are_written() {
    for Stored { name, object, protobuf, json } in recorded().objects {
        let stored = bytes(&protobuf);
        assert_eq!(
            write(&object).unwrap().escape_ascii().to_string(),
            stored.escape_ascii().to_string(),
            "{name}"
        );
        let json: Value = serde_json::from_slice(&bytes(&json)).unwrap();
        assert_eq!(write(&json).unwrap(), stored, "{name}");
    }
}

#[test]
fn other_bytes_are_judged_as_by_the_reference() {
    for Decoded { name, object, err, stored } in recorded().decode {
        let stored = bytes(&stored);
        match (object, read(&stored)) {
            (Some(object), Ok(read)) => assert_eq!(read, object, "{name}"),
            // Our type follows the bytes.
            (None, Ok(read)) => assert!(err.is_none() && read["kind"] == "ConfigMap", "{name}: {read}"),
            (object, Err(error)) => {
                assert!(object.is_none(), "{name}: {error}");
                let kind = match err.unwrap().as_str() {
                    "empty body" | "unexpected EOF" => ProtobufErrorKind::Truncated,
                    text if text.starts_with("no kind ") => ProtobufErrorKind::UnknownKind,
                    text if text.contains("is missing in 'runtime.TypeMeta") => ProtobufErrorKind::NoType,
                    text if text.starts_with("proto: wrong wireType") => ProtobufErrorKind::Malformed,
                    _ => ProtobufErrorKind::NotProtobuf,
                };
                assert_eq!(error.kind(), kind, "{name}: {error}");
            }
        }
    }
}

#[test]
fn a_struct_that_the_writer_did_not_know_is_not_shown() {
    let node = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n1"}, "spec": {"drivers": null},
    });
    let written = |minor| Serializer::new().release(Release::of_minor(minor)).to_vec(&node).unwrap();
    assert_eq!(from_slice::<Value>(&written(36)).unwrap(), node);
    let mut known = node.clone();
    known["status"] = json!({});
    assert_eq!(from_slice::<Value>(&written(37)).unwrap(), known);
}

#[derive(Deserialize)]
struct InCluster {
    key: String,
    /// What the API server showed; a few kinds are not shown.
    object: Option<Value>,
    protobuf: String,
}

/// The values of a cluster of Kubernetes 1.36, decrypted.
fn cluster() -> Vec<InCluster> {
    serde_json::from_str(include_str!("data/protobuf-cluster.json")).unwrap()
}

#[test]
fn objects_of_a_cluster_are_read_as_its_api_server_shows_them() {
    let objects = cluster();
    assert_eq!(objects.len(), 54);
    for InCluster { key, object, protobuf } in objects {
        let read: Value = from_slice(&bytes(&protobuf)).unwrap_or_else(|error| panic!("{key}: {error}"));
        if let Some(object) = object {
            assert_eq!(read, object, "{key}");
        }
    }
}

#[test]
fn objects_of_a_cluster_are_written_as_it_has_them() {
    for InCluster { key, protobuf, .. } in cluster() {
        let stored = bytes(&protobuf);
        let read: Value = from_slice(&stored).unwrap();
        let written = Serializer::new().release(Release::of_minor(36)).to_vec(&read).unwrap();
        assert_eq!(written.escape_ascii().to_string(), stored.escape_ascii().to_string(), "{key}");
    }
}
