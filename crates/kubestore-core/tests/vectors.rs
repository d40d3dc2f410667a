//! Keys, tokens and resource versions against what the reference did with the same input.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kubestore_core::{ContinueToken, PathPrefix, StorageError, parse_resource_version};
use serde_json::Value;

fn cases(file: &str, list: &str) -> Vec<Value> {
    let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut data: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases: Vec<Value> = serde_json::from_value(data[list].take()).unwrap();
    assert!(cases.len() > 5, "{file} has {} cases", cases.len());
    cases
}

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap_or_else(|| panic!("{case} has no {name}"))
}

#[test]
fn keys_are_prepared_as_recorded() {
    for case in cases("preparekey.json", "cases") {
        let prepared = PathPrefix::new(text(&case, "prefix")).prepare(text(&case, "key"));
        match case["err"].as_str() {
            None => assert_eq!(prepared.expect("a good key"), text(&case, "result"), "{case}"),
            Some(message) => {
                let error = StorageError::from(prepared.expect_err("a bad key"));
                assert_eq!(error.status().message, message, "{case}");
            }
        }
    }
}

#[test]
fn continue_tokens_are_encoded_as_recorded() {
    for case in cases("continue.json", "encode") {
        let key = STANDARD.decode(text(&case, "key")).unwrap();
        let revision = text(&case, "rv").parse().unwrap();
        let token = ContinueToken::encode(&key, text(&case, "prefix"), revision);
        match case["err"].as_str() {
            None => assert_eq!(token.expect("a token"), text(&case, "token"), "{case}"),
            Some(message) => assert_eq!(token.expect_err("no token").to_string(), message, "{case}"),
        }
    }
}

#[test]
fn continue_tokens_are_decoded_as_recorded() {
    for case in cases("continue.json", "decode") {
        let token = ContinueToken::decode(text(&case, "token"), text(&case, "prefix"));
        let Some(message) = case["err"].as_str() else {
            let token = token.unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(token.start_key.as_bytes(), STANDARD.decode(text(&case, "key")).unwrap(), "{case}");
            assert_eq!(token.revision.to_string(), text(&case, "rv"), "{case}");
            continue;
        };
        let error = token.expect_err("not a token").to_string();
        if case["goText"] == true {
            let prefix = text(&case, "errPrefix");
            assert!(error.starts_with(prefix) && error.len() > prefix.len(), "{case}: {error}");
        } else {
            assert_eq!(error, message, "{case}");
        }
    }
}

#[test]
fn resource_versions_of_requests_are_parsed_as_recorded() {
    for case in cases("resourceversion.json", "parse") {
        let parsed = parse_resource_version(text(&case, "resourceVersion"));
        match case["err"].as_str() {
            None => assert_eq!(parsed.expect("a number").to_string(), text(&case, "value"), "{case}"),
            Some(message) => {
                let error = StorageError::invalid_resource_version(&parsed.expect_err("not a number"));
                assert_eq!(error.status().message, message, "{case}");
            }
        }
    }
}

#[test]
fn resource_versions_of_objects_are_parsed_as_recorded() {
    for case in cases("resourceversion.json", "objectResourceVersion") {
        let parsed = parse_resource_version(text(&case, "resourceVersion"));
        match case["err"].as_str() {
            None => assert_eq!(parsed.expect("a number").to_string(), text(&case, "value"), "{case}"),
            Some(message) => assert_eq!(parsed.expect_err("not a number").to_string(), message, "{case}"),
        }
    }
}
