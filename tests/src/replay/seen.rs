//! Results in the notation of the recordings.

use anyhow::{Context, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kubestore_codec::Unstructured;
use kubestore_core::{List, ResponseMeta, StorageError, WatchEvent};
use kubestore_kv::KeyValue;
use serde_json::{Value, json};

use super::{
    arguments::{StepResult, untyped},
    errors::{error_value, event_error_value},
};
use crate::recording::{self, Base, Expectation, Notation, Token};

/// What came of a step.
#[derive(Debug)]
pub(crate) struct Performed {
    pub(crate) seen: Expectation,
    pub(crate) result: StepResult,
}

impl Performed {
    pub(crate) fn ok(value: Value) -> Self {
        let seen = Expectation { ok: Some(value), ..Expectation::default() };
        Self { seen, result: StepResult::default() }
    }

    pub(crate) fn nothing() -> Self {
        Self::ok(json!({}))
    }

    pub(crate) fn err(value: Value) -> Self {
        let seen = Expectation { err: Some(value), ..Expectation::default() };
        Self { seen, result: StepResult::default() }
    }

    pub(crate) fn failed(error: &StorageError, notation: &Notation) -> Self {
        Self::err(error_value(error, notation))
    }

    /// The result of an operation that returns one object.
    pub(crate) fn object(object: Option<Unstructured>, base: Base) -> Result<Self> {
        let mut performed = Self::ok(json!({ "obj": object_value(object.as_ref(), base)? }));
        performed.result.object = object;
        Ok(performed)
    }

    /// The result of a list.
    pub(crate) fn list(list: List<Unstructured>, base: Base) -> Result<Self> {
        let items = list.items.iter().map(|item| object_value(Some(item), base));
        let mut performed = Self::ok(json!({
            "items": items.collect::<Result<Vec<_>>>()?,
            "resourceVersion": base.relative_text(&list.resource_version.to_string()),
            "continue": Token::recorded(list.continue_token.as_deref(), base),
            "remainingItemCount": list.remaining_item_count,
        }));
        performed.result.items = list.items;
        performed.result.token = list.continue_token.unwrap_or_default();
        Ok(performed)
    }
}

/// An object, or null for none.
pub(crate) fn object_value(object: Option<&Unstructured>, base: Base) -> Result<Value> {
    let value = object.map_or(Ok(Value::Null), untyped)?;
    Ok(recording::relative(value, base))
}

/// What an update function was called with.
pub(crate) fn call_value(current: Option<&Unstructured>, meta: ResponseMeta, base: Base) -> Result<Value> {
    Ok(json!({
        "resourceVersion": base.relative_text(&meta.resource_version.to_string()),
        "ttl": meta.ttl,
        "obj": object_value(current, base)?,
    }))
}

/// A key as the backend has it.
pub(crate) fn stored_value(kv: Option<&KeyValue>, base: Base) -> Value {
    let Some(kv) = kv else { return json!({"found": false}) };
    let mut seen = json!({
        "found": true,
        "modRevision": base.relative(kv.mod_revision.0),
        "createRevision": base.relative(kv.create_revision.0),
        "version": kv.version,
    });
    if kv.value.starts_with(b"k8s:enc:") {
        // Up to and including the fifth colon; a value with fewer is shown up to its last one.
        let colons = kv.value.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at + 1);
        let end = colons.take(5).last().unwrap_or_default();
        seen["header"] = json!(String::from_utf8_lossy(&kv.value[..end]));
        seen["length"] = json!(kv.value.len());
    } else {
        seen["value"] = json!(STANDARD.encode(&kv.value));
        if let Some(text) = printable(&kv.value) {
            seen["text"] = json!(text);
        }
    }
    seen
}

/// The value as text, if it is printable ASCII.
fn printable(value: &[u8]) -> Option<&str> {
    let printable = |byte: &u8| matches!(byte, b'\n' | b'\t' | 0x20..=0x7e);
    std::str::from_utf8(value).ok().filter(|_| value.iter().all(printable))
}

/// The lease of a key: its name and what it was granted for.
pub(crate) fn lease_value(found: bool, lease: Option<(usize, u64)>) -> Value {
    match lease {
        _ if !found => json!({"found": false}),
        None => json!({"found": true, "lease": null}),
        Some((number, granted)) => {
            json!({"found": true, "lease": format!("L{number}"), "grantedTTL": granted})
        }
    }
}

/// What a watch delivers.
pub(crate) type Event = std::result::Result<WatchEvent<Unstructured>, StorageError>;

/// An event of a watch.
pub(crate) fn event_value(event: &Event, notation: &Notation) -> Result<Value> {
    Ok(match event {
        Err(error) => json!({"type": "ERROR", "err": event_error_value(error, notation)}),
        Ok(WatchEvent::Bookmark { resource_version, initial_events_end }) => {
            let version = notation.base.relative_text(&resource_version.to_string());
            let mut metadata = json!({ "resourceVersion": version });
            if *initial_events_end {
                metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
            }
            json!({"type": "BOOKMARK", "obj": {"metadata": metadata}})
        }
        Ok(event) => {
            let object = event.object().context("an event without an object")?;
            json!({"type": event.event_type(), "obj": object_value(Some(object), notation.base)?})
        }
    })
}

/// What an `events` step saw.
pub(crate) fn events_value(events: &[Value], wanted: usize, closed: bool) -> Value {
    let short = events.len() < wanted;
    let mut seen = json!({ "events": events });
    if short {
        seen[if closed { "closed" } else { "timeout" }] = json!(true);
    }
    seen
}
