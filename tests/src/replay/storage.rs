//! Steps that call the store, but for those with functions and watches.

use anyhow::Result;
use kubestore_codec::Unstructured;
use kubestore_core::{CreateOptions, StorageError};
use serde_json::json;

use super::{seen::Performed, session::Session};
use crate::recording::{CountStep, CreateStep, GetStep, ListStep};

impl Session {
    pub(super) fn failed(&self, error: &StorageError) -> Performed {
        Performed::failed(error, &self.notation)
    }

    pub(super) fn returned(&self, result: Result<Option<Unstructured>, StorageError>) -> Result<Performed> {
        match result {
            Ok(object) => Performed::object(object, self.notation.base),
            Err(error) => Ok(self.failed(&error)),
        }
    }

    pub(super) async fn create(&mut self, step: &CreateStep) -> Result<Performed> {
        let object = self.results.object(&step.obj)?;
        let options = CreateOptions::default().with_ttl(step.ttl.cast_unsigned());
        match self.store.create(&step.key, object, options).await {
            // The reference can be told to return nothing; here that is a matter of not looking.
            Ok(_) if !step.out => Ok(Performed::nothing()),
            created => self.returned(created.map(Some)),
        }
    }

    pub(super) async fn get(&mut self, step: &GetStep) -> Result<Performed> {
        let found = self.store.get(&step.key, self.results.get_options(step)).await;
        self.returned(found)
    }

    pub(super) async fn list(&mut self, step: &ListStep) -> Result<Performed> {
        let options = self.results.list_options(step)?;
        match self.store.get_list(&step.key, options).await {
            Ok(list) => Performed::list(list, self.notation.base),
            Err(error) => {
                let mut performed = self.failed(&error);
                performed.result.token = error.continue_token().unwrap_or_default().to_owned();
                Ok(performed)
            }
        }
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
