//! Errors in the notation of the recordings.

use kubestore_core::{ErrorKind, Status, StorageError};
use kubestore_kv::KvError;
use serde_json::{Map, Value, json};

use crate::recording::{Notation, Token};

/// An error that an operation returned.
pub(crate) fn error_value(error: &StorageError, notation: &Notation) -> Value {
    let status = error.status();
    let mut fields = Map::new();
    fields.insert("kind".to_owned(), json!(kind(error.kind())));
    if error.has_own_status() {
        status_fields(&mut fields, &status, notation);
        // What a function refused with has no kind of its own, whatever its status says.
        if error.kind() != ErrorKind::Callback {
            fields.insert("kind".to_owned(), json!(kind(error.kind())));
        }
        return Value::Object(fields);
    }
    fields.insert("message".to_owned(), json!(notation.message(&status.message)));
    if is_storage_error(error.kind()) {
        fields.insert("key".to_owned(), json!(notation.key(error.key().unwrap_or_default())));
        fields.insert("resourceVersion".to_owned(), json!(0));
        fields.insert("additional".to_owned(), json!(notation.message(error.additional_message())));
    }
    Value::Object(fields)
}

/// An error that ended a watch, as the status that a client is sent.
pub(crate) fn event_error_value(error: &StorageError, notation: &Notation) -> Value {
    let mut fields = Map::new();
    status_fields(&mut fields, &error.status(), notation);
    Value::Object(fields)
}

/// An error of a step that acts on the backend: etcd's text where etcd has one.
pub(crate) fn backend_error_value(error: &KvError) -> Value {
    let message = error.kind().etcd_text().map_or_else(|| error.to_string(), str::to_owned);
    json!({"kind": "Other", "message": message})
}

fn kind(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::KeyNotFound => "KeyNotFound",
        ErrorKind::KeyExists => "KeyExists",
        ErrorKind::ResourceVersionConflict => "ResourceVersionConflicts",
        ErrorKind::InvalidObject => "InvalidObj",
        ErrorKind::Unreachable => "Unreachable",
        ErrorKind::Timeout => "Timeout",
        ErrorKind::Internal => "Internal",
        ErrorKind::Invalid => "Invalid",
        ErrorKind::TooLargeResourceVersion => "TooLargeResourceVersion",
        ErrorKind::Expired => "Expired",
        ErrorKind::BadRequest => "BadRequest",
        _ => "Other",
    }
}

fn is_storage_error(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::KeyNotFound
            | ErrorKind::KeyExists
            | ErrorKind::ResourceVersionConflict
            | ErrorKind::InvalidObject
            | ErrorKind::Unreachable
            | ErrorKind::Timeout
    )
}

fn status_fields(fields: &mut Map<String, Value>, status: &Status, notation: &Notation) {
    let too_large = status.causes.iter().any(|cause| cause.kind == "ResourceVersionTooLarge");
    let kind = match status.reason.as_str() {
        "Timeout" if too_large => "TooLargeResourceVersion",
        "Expired" | "Gone" => "Expired",
        "BadRequest" => "BadRequest",
        "Invalid" => "Invalid",
        "InternalError" => "InternalStatus",
        _ => "Other",
    };
    fields.insert("kind".to_owned(), json!(kind));
    fields.insert("message".to_owned(), json!(notation.message(&status.message)));
    fields.insert("reason".to_owned(), json!(status.reason));
    fields.insert("code".to_owned(), json!(status.code));
    if kind == "Expired" {
        let token = Token::recorded(status.continue_token.as_deref(), notation.base);
        fields.insert("continue".to_owned(), token);
    }
    if !status.causes.is_empty() {
        let causes = status
            .causes
            .iter()
            .map(|cause| json!({"type": cause.kind, "message": notation.message(&cause.message)}));
        fields.insert("causes".to_owned(), causes.collect());
    }
}
