//! Steps whose functions the store calls: update and delete.

use anyhow::{Error, Result, bail};
use async_trait::async_trait;
use kubestore_codec::Unstructured;
use kubestore_core::{
    DeleteOptions, ResponseMeta, Status, StorageError, UpdateFn, UpdateOptions, Updated, ValidateDeletion,
};
use serde_json::{Value, json};

use super::{
    arguments::{refusal, untyped, with_content},
    session::Session,
    step::Performed,
    storage::not_found,
};
use crate::recording::{self, DeleteStep, Try, UpdateStep, Validation};

impl Session {
    pub(super) async fn update(&mut self, step: &UpdateStep, number: &str) -> Result<Performed> {
        let cached = self.cached(step.cached.as_ref())?;
        let mut options = UpdateOptions::default();
        options.not_found = not_found(step.ignore_not_found);
        options.preconditions = self.preconditions(step.preconditions.as_ref());
        let store = std::sync::Arc::clone(&self.store);
        let mut function = Attempt { session: self, step, number, calls: Vec::new(), broken: None };
        let updated = store.guaranteed_update(&step.key, options, &mut function, cached).await;
        let Attempt { calls, broken, .. } = function;
        broken.map_or(Ok(()), Err)?;
        let mut performed = match updated {
            Ok(object) => self.returned(Some(object))?,
            Err(error) => self.failed(&error),
        };
        performed.seen.calls = Some(calls);
        Ok(performed)
    }

    pub(super) async fn delete(&mut self, step: &DeleteStep, number: &str) -> Result<Performed> {
        let cached = self.cached(step.cached.as_ref())?;
        let mut options = DeleteOptions::default();
        options.preconditions = self.preconditions(step.preconditions.as_ref());
        let store = std::sync::Arc::clone(&self.store);
        let mut function = Check { session: self, step, number, calls: Vec::new(), broken: None };
        let deleted = store.delete(&step.key, options, &mut function, cached).await;
        let Check { calls, broken, .. } = function;
        broken.map_or(Ok(()), Err)?;
        let mut performed = match deleted {
            Ok(object) => self.returned(Some(object))?,
            Err(error) => self.failed(&error),
        };
        performed.seen.validate_calls = Some(calls);
        Ok(performed)
    }
}

/// The update function of a step.
struct Attempt<'s> {
    session: &'s mut Session,
    step: &'s UpdateStep,
    number: &'s str,
    calls: Vec<Value>,
    /// The scenario itself is wrong.
    broken: Option<Error>,
}

#[async_trait]
impl UpdateFn<Unstructured> for Attempt<'_> {
    async fn update(
        &mut self,
        current: Option<Unstructured>,
        meta: ResponseMeta,
    ) -> Result<Updated<Unstructured>, StorageError> {
        match self.call(current, meta).await {
            Ok(answer) => answer,
            Err(error) => {
                let refusal = refusal(&format!("{error:#}"));
                self.broken = Some(error);
                Err(refusal)
            }
        }
    }
}

impl Attempt<'_> {
    async fn call(
        &mut self,
        current: Option<Unstructured>,
        meta: ResponseMeta,
    ) -> Result<Result<Updated<Unstructured>, StorageError>> {
        let attempt = &self.step.attempt;
        let base = self.session.notation.base;
        let input = current.as_ref().map_or(Ok(Value::Null), untyped)?;
        self.calls.push(json!({
            "resourceVersion": base.relative_text(&meta.resource_version.to_string()),
            "ttl": meta.ttl,
            "obj": recording::relative(input.clone(), base),
        }));
        if self.calls.len() == 1 {
            self.session.run_nested(&attempt.steps, self.number).await;
        }
        if let Some(text) = recording::unmet(&input, &attempt.require, attempt.require_msg.as_deref()) {
            return Ok(Err(refusal(&text)));
        }
        if let Some(error) = self.failure(attempt)? {
            return Ok(Err(error));
        }
        // There is no null document here; the nearest to it is an object without anything.
        let object = match &attempt.replace {
            Some(argument) => self.session.object(argument)?,
            None => current.unwrap_or_default(),
        };
        let mut content = untyped(&object)?;
        recording::edit(&mut content, &attempt.set, &attempt.incr, &attempt.unset, base);
        let updated = Updated::new(with_content(object, content)?);
        Ok(Ok(match attempt.ttl {
            Some(ttl) => updated.with_ttl(ttl.cast_unsigned()),
            None => updated,
        }))
    }

    fn failure(&self, attempt: &Try) -> Result<Option<StorageError>> {
        let Some(text) = &attempt.error else { return Ok(None) };
        if attempt.error_on_call != 0 && attempt.error_on_call != self.calls.len() {
            return Ok(None);
        }
        let resource = &self.session.resource;
        Ok(Some(match attempt.error_kind.as_deref().unwrap_or_default() {
            "" => refusal(text),
            "notfound" => {
                let message = format!("{resource} \"{text}\" not found");
                StorageError::from_status(Status::new(404, "NotFound", message))
            }
            "conflict" => {
                let message = format!("Operation cannot be fulfilled on {resource} \"name\": {text}");
                StorageError::from_status(Status::new(409, "Conflict", message))
            }
            "keynotfound" => StorageError::key_not_found(self.session.backend_key(&self.step.key)),
            other => bail!("unknown errorKind {other:?}"),
        }))
    }
}

/// The validation function of a step.
struct Check<'s> {
    session: &'s mut Session,
    step: &'s DeleteStep,
    number: &'s str,
    calls: Vec<Value>,
    /// The scenario itself is wrong.
    broken: Option<Error>,
}

#[async_trait]
impl ValidateDeletion<Unstructured> for Check<'_> {
    async fn validate(&mut self, current: &Unstructured) -> Result<(), StorageError> {
        let object = match untyped(current) {
            Ok(object) => object,
            Err(error) => {
                let refusal = refusal(&format!("{error:#}"));
                self.broken = Some(error);
                return Err(refusal);
            }
        };
        let base = self.session.notation.base;
        self.calls.push(json!({ "obj": recording::relative(object.clone(), base) }));
        let Some(Validation::Rules(rules)) = &self.step.validate else { return Ok(()) };
        if self.calls.len() == 1 {
            self.session.run_nested(&rules.steps, self.number).await;
        }
        if let Some(text) = recording::unmet(&object, &rules.require, rules.require_msg.as_deref()) {
            return Err(refusal(&text));
        }
        rules.deny.as_deref().map_or(Ok(()), |text| Err(refusal(text)))
    }
}
