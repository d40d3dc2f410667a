//! Every kind of Kubernetes, filled at random by Go, against what Go reads and writes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use kubestore_codec::protobuf::{check_replaceable, from_slice, to_vec};
use serde::Deserialize;
use serde_json::Value;

/// An object of Kubernetes 1.37.
#[derive(Deserialize)]
struct Filled {
    kind: String,
    /// What Go prints after it has read `protobuf`.
    json: Value,
    protobuf: String,
    /// What Go writes after it has read `json`, where that is not `protobuf`.
    written: Option<String>,
}

fn filled() -> Vec<Filled> {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("data/protobuf-kinds.json.gz")[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn bytes(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).unwrap()
}

/// The paths at which two documents differ.
fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for name in ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name))) {
                match (ours.get(name), theirs.get(name)) {
                    (Some(ours), Some(theirs)) => differences(&format!("{path}.{name}"), ours, theirs, found),
                    (ours, theirs) => found.push(format!("{path}.{name}: {ours:?} {theirs:?}")),
                }
            }
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                differences(&format!("{path}[{index}]"), ours, theirs, found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(format!("{path}: {ours} {theirs}")),
    }
}

#[test]
fn every_kind_is_read_as_go_reads_it() {
    let mut found = Vec::new();
    let objects = filled();
    assert!(objects.len() > 190, "{}", objects.len());
    for Filled { kind, json, protobuf, .. } in objects {
        let mut read: Value = from_slice(&bytes(&protobuf)).unwrap_or_else(|error| panic!("{kind}: {error}"));
        // An API server gives these their type, which the codec of Go does not.
        for claim in
            read.pointer_mut("/spec/volumeClaimTemplates").and_then(Value::as_array_mut).into_iter().flatten()
        {
            assert_eq!(claim["kind"], "PersistentVolumeClaim");
            claim.as_object_mut().unwrap().retain(|name, _| name != "apiVersion" && name != "kind");
        }
        differences(&kind, &read, &json, &mut found);
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found[..found.len().min(40)].join("\n"));
}

#[test]
fn every_kind_is_written_as_go_writes_it() {
    for Filled { kind, json, protobuf, written } in filled() {
        let expected = bytes(written.as_ref().unwrap_or(&protobuf));
        let ours = to_vec(&json).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(ours.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{kind}: {json}");
    }
}

#[test]
fn nothing_of_any_kind_would_be_lost() {
    for Filled { kind, protobuf, .. } in filled() {
        check_replaceable(&bytes(&protobuf)).unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}
