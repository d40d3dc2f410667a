//! What the functions of scenarios answer.

use anyhow::{Result, bail};
use kubestore_codec::Unstructured;
use kubestore_core::{GroupResource, Status, StorageError, Updated};

use super::arguments::{Results, untyped, with_content};
use crate::recording::{self, Try, ValidationRules};

/// What an update function is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) resource: &'a GroupResource,
    /// The backend's key.
    pub(crate) key: &'a str,
}

/// The answer of an update function on one of its calls, counted from 1.
pub(crate) fn answer(
    attempt: &Try,
    call: usize,
    current: Option<Unstructured>,
    results: &Results,
    subject: Subject<'_>,
) -> Result<Result<Updated<Unstructured>, StorageError>> {
    let object = current.unwrap_or_default();
    let content = untyped(&object)?;
    if let Some(text) = recording::unmet(&content, &attempt.require, attempt.require_msg.as_deref()) {
        return Ok(Err(StorageError::callback(text)));
    }
    if let Some(error) = failure(attempt, call, subject)? {
        return Ok(Err(error));
    }
    // There is no null document here; the nearest to it is an object without anything.
    let object = match &attempt.replace {
        Some(argument) => results.object(argument)?,
        None => object,
    };
    let mut content = untyped(&object)?;
    recording::edit(&mut content, &attempt.set, &attempt.incr, &attempt.unset, results.base);
    let updated = Updated::new(with_content(object, content)?);
    Ok(Ok(match attempt.ttl {
        Some(ttl) => updated.with_ttl(ttl.cast_unsigned()),
        None => updated,
    }))
}

fn failure(attempt: &Try, call: usize, subject: Subject<'_>) -> Result<Option<StorageError>> {
    let Some(text) = &attempt.error else { return Ok(None) };
    if attempt.error_on_call != 0 && attempt.error_on_call != call {
        return Ok(None);
    }
    let resource = subject.resource;
    Ok(Some(match attempt.error_kind.as_deref().unwrap_or_default() {
        "" => StorageError::callback(text.clone()),
        "notfound" => {
            let message = format!("{resource} \"{text}\" not found");
            StorageError::from_status(Status::new(404, "NotFound", message))
        }
        "conflict" => {
            let message = format!("Operation cannot be fulfilled on {resource} \"name\": {text}");
            StorageError::from_status(Status::new(409, "Conflict", message))
        }
        "keynotfound" => StorageError::key_not_found(subject.key),
        other => bail!("unknown errorKind {other:?}"),
    }))
}

/// The answer of a validation function.
pub(crate) fn verdict(rules: &ValidationRules, object: &Unstructured) -> Result<Result<(), StorageError>> {
    let content = untyped(object)?;
    let refusal = recording::unmet(&content, &rules.require, rules.require_msg.as_deref());
    Ok(match refusal.or_else(|| rules.deny.clone()) {
        Some(text) => Err(StorageError::callback(text)),
        None => Ok(()),
    })
}
