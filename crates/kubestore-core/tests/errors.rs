//! What errors say: to people, to programs and to clients.

use std::error::Error as _;

use kubestore_core::{CodecError, ErrorKind, PathPrefix, Status, StorageError, parse_resource_version};

#[test]
fn a_missing_object_reads_as_the_reference_has_it() {
    let error = StorageError::key_not_found("/registry/pods/ns1/a").with_operation("get");
    assert_eq!(error.to_string(), "get of /registry/pods/ns1/a: there is no such object");
    assert!(error.is_not_found() && !error.is_retryable());
    let status = error.status();
    assert_eq!((status.code, status.reason.as_str()), (404, "NotFound"));
    assert_eq!(
        status.message,
        "StorageError: key not found, Code: 1, Key: /registry/pods/ns1/a, ResourceVersion: 0, AdditionalErrorMsg: "
    );
}

#[test]
fn a_future_resource_version_names_both_and_may_be_retried() {
    let error = StorageError::too_large_resource_version(9, 5, 1);
    assert!(error.is_too_large_resource_version() && error.is_retryable());
    assert_eq!((error.requested_resource_version(), error.current_resource_version()), (Some(9), Some(5)));
    let status = error.status();
    assert_eq!(status.message, "Timeout: Too large resource version: 9, current: 5");
    assert_eq!((status.code, status.retry_after_seconds), (504, 1));
    assert_eq!(status.causes[0].kind, "ResourceVersionTooLarge");
}

#[test]
fn an_expired_token_comes_with_a_new_one() {
    let error = StorageError::continue_expired(Some("abc".into()));
    assert!(error.is_expired());
    assert_eq!(error.continue_token(), Some("abc"));
    assert!(error.status().message.contains("or use the continue token in this response"));
    let without = StorageError::continue_expired(None).status();
    assert_eq!(without.continue_token, None);
    assert!(without.message.ends_with("without the continue parameter."));
}

#[test]
fn a_callback_error_passes_unchanged() {
    let error = StorageError::callback("not on a Sunday");
    assert_eq!(error.status().message, "not on a Sunday");
    assert_eq!(error.source().unwrap().to_string(), "not on a Sunday");
    let status = Status::new(409, "Conflict", "it changed");
    assert_eq!(StorageError::from_status(status.clone()).status(), status);
}

#[test]
fn stored_content_reaches_the_client_and_nobody_else() {
    let quoting = "Object 'Kind' is missing in '{\"password\":\"hunter2\"}'";
    let cause = CodecError::new("the object has no kind").with_status_message(quoting);
    let error = StorageError::corrupt("/registry/secrets/ns1/a", cause).with_operation("get");
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.status().message, quoting);
    let watched = error.into_watch_error();
    let shown = format!("{watched} {watched:?} {:?}", watched.source().unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(watched.status().message, format!("Internal error occurred: {quoting}"));
    assert_eq!(
        (watched.status().reason.as_str(), watched.status().causes[0].message.as_str()),
        ("InternalError", quoting)
    );
}

#[test]
fn a_watch_passes_on_a_status_and_wraps_everything_else() {
    let expired = StorageError::watch_expired().into_watch_error();
    assert_eq!((expired.status().code, expired.status().reason.as_str()), (410, "Expired"));
    let plain = StorageError::other("no results").into_watch_error().status();
    assert_eq!((plain.code, plain.message.as_str()), (500, "Internal error occurred: no results"));
}

#[test]
fn a_chain_of_causes_repeats_nothing() {
    let inner = CodecError::new("the object has no kind");
    let error = StorageError::unencodable("/registry/pods/a", inner).with_operation("create");
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        texts.push(error.to_string());
        cause = error.source();
    }
    assert_eq!(texts, ["create of /registry/pods/a: the object cannot be stored", "the object has no kind"]);
}

#[test]
fn bad_input_is_quoted() {
    let error = StorageError::bad_resource_version(&parse_resource_version("a\"b").unwrap_err());
    let text = r#"invalid resource version: resourceVersion: Invalid value: "a\"b": strconv.ParseUint: parsing "a\"b": invalid syntax"#;
    assert_eq!(error.status().message, text);
    let error = StorageError::from(PathPrefix::new("/").prepare("/a/..").unwrap_err());
    assert_eq!(error.to_string(), "invalid key: \"/a/..\"");
}
