//! Steps whose functions the store calls: update and delete.

use std::sync::Arc;

use anyhow::{Error, Result};
use async_trait::async_trait;
use kubestore_codec::Unstructured;
use kubestore_core::{
    DeleteOptions, ResponseMeta, StorageError, UpdateFn, UpdateOptions, Updated, ValidateDeletion,
};
use serde_json::{Value, json};

use super::{
    answers::{Subject, answer, verdict},
    arguments::not_found,
    seen::{Performed, call_value, object_value},
    session::Session,
};
use crate::recording::{DeleteStep, UpdateStep, Validation};

impl Session {
    pub(super) async fn update(&mut self, step: &UpdateStep, number: &str) -> Result<Performed> {
        let cached = self.results.cached(step.cached.as_ref())?;
        let mut options = UpdateOptions::default();
        options.not_found = not_found(step.ignore_not_found);
        options.preconditions = self.results.preconditions(step.preconditions.as_ref());
        let store = Arc::clone(&self.store);
        let mut function = Attempt { session: self, step, number, calls: Vec::new(), broken: None };
        let updated = store.guaranteed_update(&step.key, options, &mut function, cached).await;
        let Attempt { calls, broken, .. } = function;
        broken.map_or(Ok(()), Err)?;
        let mut performed = self.returned(updated.map(Some))?;
        performed.seen.calls = Some(calls);
        Ok(performed)
    }

    pub(super) async fn delete(&mut self, step: &DeleteStep, number: &str) -> Result<Performed> {
        let cached = self.results.cached(step.cached.as_ref())?;
        let mut options = DeleteOptions::default();
        options.preconditions = self.results.preconditions(step.preconditions.as_ref());
        let store = Arc::clone(&self.store);
        let mut function = Check { session: self, step, number, calls: Vec::new(), broken: None };
        let deleted = store.delete(&step.key, options, &mut function, cached).await;
        let Check { calls, broken, .. } = function;
        broken.map_or(Ok(()), Err)?;
        let mut performed = self.returned(deleted.map(Some))?;
        performed.seen.validate_calls = Some(calls);
        Ok(performed)
    }
}

/// A function that cannot go on because the scenario itself is wrong: the store is told no, the reason is kept.
fn broken<T>(kept: &mut Option<Error>, answered: Result<Result<T, StorageError>>) -> Result<T, StorageError> {
    answered.unwrap_or_else(|error| {
        let refusal = StorageError::callback(format!("{error:#}"));
        *kept = Some(error);
        Err(refusal)
    })
}

/// The update function of a step.
struct Attempt<'s> {
    session: &'s mut Session,
    step: &'s UpdateStep,
    number: &'s str,
    calls: Vec<Value>,
    broken: Option<Error>,
}

#[async_trait]
impl UpdateFn<Unstructured> for Attempt<'_> {
    async fn update(
        &mut self,
        current: Option<Unstructured>,
        meta: ResponseMeta,
    ) -> Result<Updated<Unstructured>, StorageError> {
        let answered = self.call(current, meta).await;
        broken(&mut self.broken, answered)
    }
}

impl Attempt<'_> {
    async fn call(
        &mut self,
        current: Option<Unstructured>,
        meta: ResponseMeta,
    ) -> Result<Result<Updated<Unstructured>, StorageError>> {
        self.calls.push(call_value(current.as_ref(), meta, self.session.notation.base)?);
        let attempt = &self.step.attempt;
        if self.calls.len() == 1 {
            self.session.run_nested(&attempt.steps, self.number).await;
        }
        let key = self.session.backend_key(&self.step.key);
        let subject = Subject { resource: &self.session.resource, key: &key };
        answer(attempt, self.calls.len(), current, &self.session.results, subject)
    }
}

/// The validation function of a step.
struct Check<'s> {
    session: &'s mut Session,
    step: &'s DeleteStep,
    number: &'s str,
    calls: Vec<Value>,
    broken: Option<Error>,
}

#[async_trait]
impl ValidateDeletion<Unstructured> for Check<'_> {
    async fn validate(&mut self, current: &Unstructured) -> Result<(), StorageError> {
        let answered = self.call(current).await;
        broken(&mut self.broken, answered)
    }
}

impl Check<'_> {
    async fn call(&mut self, current: &Unstructured) -> Result<Result<(), StorageError>> {
        self.calls.push(json!({ "obj": object_value(Some(current), self.session.notation.base)? }));
        let Some(Validation::Rules(rules)) = &self.step.validate else { return Ok(Ok(())) };
        if self.calls.len() == 1 {
            self.session.run_nested(&rules.steps, self.number).await;
        }
        verdict(rules, current)
    }
}
