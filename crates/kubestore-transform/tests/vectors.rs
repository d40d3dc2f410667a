//! Values that a Kubernetes API server wrote, and what it says of damaged ones.
#![cfg(all(feature = "aes-gcm", feature = "aes-cbc", feature = "secretbox"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine};
use bytes::Bytes;
use kubestore_transform::{
    EnvelopeHeader, Identity, Key, Provider, ProviderChain, TransformErrorKind, Transformer, ValueContext,
};
use serde_json::Value;

fn vectors(direction: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("data/transformers.json")).unwrap();
    all[direction].as_array().unwrap().clone()
}

fn bytes(vector: &Value, field: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(vector[field].as_str().unwrap()).unwrap()
}

fn keys(list: &Value) -> Vec<Key> {
    let key = |key: &Value| Key::new(key["name"].as_str().unwrap(), bytes(key, "secret")).unwrap();
    list.as_array().unwrap().iter().map(key).collect()
}

/// The form of the field `config`: `"identity"`, one provider with its keys, or a list of providers.
fn transformer(config: &Value) -> Arc<dyn Transformer> {
    if config == "identity" {
        return Arc::new(Identity);
    }
    let mut providers = Vec::new();
    let one = [config.clone()];
    for element in config.get("providers").map_or(&one[..], |list| list.as_array().unwrap()) {
        for (name, value) in element.as_object().unwrap() {
            providers.push(match &name[..] {
                "aesgcm" => Provider::aes_gcm(keys(value)).unwrap(),
                "aescbc" => Provider::aes_cbc(keys(value)).unwrap(),
                "secretbox" => Provider::secretbox(keys(value)).unwrap(),
                "identity" | "identity_fallback" => Provider::identity(),
                other => panic!("{other} in a vector"),
            });
        }
    }
    // An object's members come in no order; the fallback is always the last.
    providers.sort_by_key(|provider| config.get("providers").is_none() && provider.is_identity());
    Arc::new(ProviderChain::new(providers).unwrap())
}

#[test]
fn stored_values_open_as_in_the_reference() {
    let vectors = vectors("read");
    assert_eq!(vectors.len(), 240);
    for vector in vectors {
        let name = vector["name"].as_str().unwrap();
        let stored = bytes(&vector, "stored");
        let transformer = transformer(&vector["config"]);
        let context = ValueContext::new(vector["key"].as_str().unwrap().as_bytes());
        let read = || transformer.transform_from_storage(stored.clone().into(), context).try_now().unwrap();
        match (vector.get("err"), vector.get("panic"), read()) {
            (None, None, Ok(opened)) => {
                assert_eq!(opened.data, bytes(&vector, "plaintext"), "{name}");
                assert_eq!(Value::Bool(opened.stale), vector["stale"], "{name}");
            }
            (Some(expected), None, Err(error)) => {
                assert_eq!(error.status_message(), expected.as_str().unwrap(), "{name}");
            }
            (None, Some(_), Err(error)) => assert_eq!(error.kind(), TransformErrorKind::Truncated, "{name}"),
            (.., answer) => panic!("{name}: {answer:?}, expected {vector}"),
        }
        // A second reading, of a buffer that somebody else holds too, says the same.
        let shared = Bytes::from(stored.clone());
        let again = transformer.transform_from_storage(shared.clone(), context).try_now().unwrap();
        assert_eq!(format!("{:?}", read()), format!("{again:?}"), "{name}");
        assert_eq!(shared, stored, "{name}: opening changed a buffer that is shared");
    }
}

#[test]
fn written_values_are_those_of_the_reference_but_for_the_nonce() {
    let vectors = vectors("write");
    assert_eq!(vectors.len(), 81);
    for vector in vectors {
        let name = vector["name"].as_str().unwrap();
        let transformer = transformer(&vector["config"]);
        let context = ValueContext::new(vector["key"].as_str().unwrap().as_bytes());
        let (plain, expected) = (bytes(&vector, "plaintext"), bytes(&vector, "stored"));
        let stored =
            transformer.transform_to_storage(plain.clone().into(), context).try_now().unwrap().unwrap();
        assert_eq!(stored.len(), expected.len(), "{name}");
        if transformer.output_is_unique() {
            assert_eq!(EnvelopeHeader::parse(&stored), EnvelopeHeader::parse(&expected), "{name}");
            assert!(EnvelopeHeader::parse(&stored).unwrap().key_name.is_some(), "{name}");
            assert_ne!(stored, expected, "{name}: the nonce is that of the recording");
        } else {
            assert_eq!(stored, expected, "{name}");
        }
        if vector["config"] == "identity" && name.ends_with("as header") {
            continue; // Identity writes it, and refuses to read it.
        }
        for stored in [stored, expected.into()] {
            let opened = transformer.transform_from_storage(stored, context).try_now().unwrap().unwrap();
            assert_eq!(opened.data, plain, "{name}");
            assert!(!opened.stale, "{name}");
        }
    }
}
