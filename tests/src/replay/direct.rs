//! Steps that act on the backend, past the store.

use anyhow::{Context, Result};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kubestore_kv::{GetRequest, KeyValue, Revision};
use serde_json::{Value, json};

use super::{
    errors::backend_error_value,
    seen::{Performed, lease_value, stored_value},
    session::{Session, delete, put},
};
use crate::recording::{CompactStep, CopyStep, KeyStep, PutStep};

impl Session {
    pub(super) async fn compact(&mut self, step: &CompactStep) -> Result<Performed> {
        let text = self.notation.base.absolute_text(&step.revision);
        let revision = text.parse().with_context(|| format!("revision {text:?}"))?;
        Ok(match self.raw.compact(Revision(revision)).await {
            Ok(()) => Performed::nothing(),
            Err(error) => Performed::err(backend_error_value(&error)),
        })
    }

    pub(super) async fn raw_put(&mut self, step: &PutStep) -> Result<Performed> {
        put(&*self.raw, self.backend_key(&step.key), raw_bytes(step)?).await?;
        Ok(Performed::nothing())
    }

    pub(super) async fn raw_delete(&mut self, step: &KeyStep) -> Result<Performed> {
        let deleted = delete(&*self.raw, self.backend_key(&step.key)).await?;
        Ok(Performed::ok(json!({ "deleted": deleted })))
    }

    pub(super) async fn raw_copy(&mut self, step: &CopyStep) -> Result<Performed> {
        let Some(from) = self.at(&step.from).await? else { return Ok(Performed::err(missing())) };
        put(&*self.raw, self.backend_key(&step.to), from.value.to_vec()).await?;
        Ok(Performed::nothing())
    }

    pub(super) async fn raw_get(&mut self, step: &KeyStep) -> Result<Performed> {
        let kv = self.at(&step.key).await?;
        Ok(Performed::ok(stored_value(kv.as_ref(), self.notation.base)))
    }

    pub(super) async fn lease_of(&mut self, step: &KeyStep) -> Result<Performed> {
        let kv = self.at(&step.key).await?;
        let found = kv.is_some();
        let Some(lease) = kv.and_then(|kv| kv.lease) else {
            return Ok(Performed::ok(lease_value(found, None)));
        };
        let granted = self.raw.lease_info(lease).await?.granted.as_secs();
        let number = match self.leases.iter().position(|known| *known == lease) {
            Some(position) => position + 1,
            None => {
                self.leases.push(lease);
                self.leases.len()
            }
        };
        Ok(Performed::ok(lease_value(found, Some((number, granted)))))
    }

    pub(super) async fn revoke_lease(&mut self, step: &KeyStep) -> Result<Performed> {
        let lease = self.at(&step.key).await?.and_then(|kv| kv.lease);
        let Some(lease) = lease else { return Ok(Performed::err(missing())) };
        Ok(match self.raw.revoke_lease(lease).await {
            Ok(()) => Performed::nothing(),
            Err(error) => Performed::err(backend_error_value(&error)),
        })
    }

    async fn at(&self, key: &str) -> Result<Option<KeyValue>> {
        Ok(self.raw.get(GetRequest::new(self.backend_key(key))).await?.kv)
    }
}

/// What a step puts.
pub(crate) fn raw_bytes(step: &PutStep) -> Result<Vec<u8>> {
    match (&step.text, &step.value) {
        (Some(text), _) => Ok(text.clone().into_bytes()),
        (None, Some(value)) => STANDARD.decode(value).context("value"),
        (None, None) => Ok(Vec::new()),
    }
}

/// What a step acts on is not there. No recording has it, but where kubestore is meant to differ a step may come to
/// this.
pub(crate) fn missing() -> Value {
    json!({"kind": "Other", "message": "there is nothing to act on"})
}
