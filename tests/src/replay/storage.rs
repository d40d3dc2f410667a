//! Steps that call the store, but for those with functions and watches.

use anyhow::Result;
use kubestore_codec::Unstructured;
use kubestore_core::{
    CreateOptions, GetOptions, ListOptions, NotFound, ResourceVersionMatch, Scope, StorageError,
};
use serde_json::{Value, json};

use super::{
    arguments::{predicate, untyped},
    errors::error_value,
    session::{Session, StepResult},
    step::Performed,
};
use crate::recording::{self, CountStep, CreateStep, GetStep, ListStep, Token};

impl Session {
    pub(super) fn failed(&self, error: &StorageError) -> Performed {
        Performed::err(error_value(error, &self.notation))
    }

    /// The result of an operation that returns one object.
    pub(super) fn returned(&self, object: Option<Unstructured>) -> Result<Performed> {
        let value = object.as_ref().map_or(Ok(Value::Null), untyped)?;
        let relative = recording::relative(value, self.notation.base);
        let mut performed = Performed::ok(json!({ "obj": relative }));
        performed.result.object = object;
        Ok(performed)
    }

    pub(super) async fn create(&mut self, step: &CreateStep) -> Result<Performed> {
        let object = self.object(&step.obj)?;
        let options = CreateOptions::default().with_ttl(step.ttl.cast_unsigned());
        Ok(match self.store.create(&step.key, object, options).await {
            Err(error) => self.failed(&error),
            // The reference can be told to return nothing; here that is a matter of not looking.
            Ok(_) if !step.out => Performed::nothing(),
            Ok(object) => self.returned(Some(object))?,
        })
    }

    pub(super) async fn get(&mut self, step: &GetStep) -> Result<Performed> {
        let mut options = GetOptions::default();
        options.resource_version = self.notation.base.absolute_text(&step.resource_version);
        options.not_found = not_found(step.ignore_not_found);
        Ok(match self.store.get(&step.key, options).await {
            Err(error) => self.failed(&error),
            Ok(object) => self.returned(object)?,
        })
    }

    pub(super) async fn list(&mut self, step: &ListStep) -> Result<Performed> {
        let mut options = ListOptions::default();
        options.scope = scope(step.recursive);
        options.resource_version = self.notation.base.absolute_text(&step.resource_version);
        options.resource_version_match = ResourceVersionMatch::from(step.resource_version_match.as_str());
        options.predicate = predicate(&step.label_selector, &step.field_selector)?;
        options.limit = step.limit;
        options.continue_token = self.token(step.continues.as_ref())?;
        let list = match self.store.get_list(&step.key, options).await {
            Ok(list) => list,
            Err(error) => {
                let mut performed = self.failed(&error);
                performed.result.token = error.continue_token().unwrap_or_default().to_owned();
                return Ok(performed);
            }
        };
        let base = self.notation.base;
        let items = list.items.iter().map(|item| Ok(recording::relative(untyped(item)?, base)));
        let mut performed = Performed::ok(json!({
            "items": items.collect::<Result<Vec<_>>>()?,
            "resourceVersion": base.relative_text(&list.resource_version.to_string()),
            "continue": Token::recorded(list.continue_token.as_deref(), base),
            "remainingItemCount": list.remaining_item_count,
        }));
        performed.result =
            StepResult { object: None, items: list.items, token: list.continue_token.unwrap_or_default() };
        Ok(performed)
    }

    pub(super) async fn count(&mut self, step: &CountStep) -> Result<Performed> {
        Ok(match self.store.count(&step.key).await {
            Ok(count) => Performed::ok(json!({ "count": count })),
            Err(error) => self.failed(&error),
        })
    }

    pub(super) async fn readiness(&mut self) -> Result<Performed> {
        Ok(match self.store.readiness().await {
            Ok(()) => Performed::nothing(),
            Err(error) => self.failed(&error),
        })
    }
}

pub(super) fn not_found(ignore: bool) -> NotFound {
    if ignore { NotFound::Ignore } else { NotFound::Fail }
}

pub(super) fn scope(recursive: bool) -> Scope {
    if recursive { Scope::Recursive } else { Scope::Single }
}
