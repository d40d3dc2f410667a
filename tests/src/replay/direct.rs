//! Steps that act on the backend, past the store.

use anyhow::{Context, Result, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kubestore_kv::{GetRequest, KeyValue, Revision};
use serde_json::json;

use super::{
    errors::backend_error_value,
    session::{Session, delete, put, value_at},
    step::Performed,
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
        let value = match (&step.text, &step.value) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(value)) => STANDARD.decode(value).context("value")?,
            (None, None) => Vec::new(),
        };
        put(&*self.raw, self.backend_key(&step.key), value).await?;
        Ok(Performed::nothing())
    }

    pub(super) async fn raw_delete(&mut self, step: &KeyStep) -> Result<Performed> {
        let deleted = delete(&*self.raw, self.backend_key(&step.key)).await?;
        Ok(Performed::ok(json!({ "deleted": deleted })))
    }

    pub(super) async fn raw_copy(&mut self, step: &CopyStep) -> Result<Performed> {
        let value = value_at(&*self.raw, self.backend_key(&step.from)).await?;
        put(&*self.raw, self.backend_key(&step.to), value).await?;
        Ok(Performed::nothing())
    }

    pub(super) async fn raw_get(&mut self, step: &KeyStep) -> Result<Performed> {
        let Some(kv) = self.at(&step.key).await? else { return Ok(Performed::ok(json!({"found": false}))) };
        let base = self.notation.base;
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
        Ok(Performed::ok(seen))
    }

    pub(super) async fn lease_of(&mut self, step: &KeyStep) -> Result<Performed> {
        let Some(kv) = self.at(&step.key).await? else { return Ok(Performed::ok(json!({"found": false}))) };
        let Some(lease) = kv.lease else { return Ok(Performed::ok(json!({"found": true, "lease": null}))) };
        let granted = self.raw.lease_info(lease).await?.granted.as_secs();
        let number = match self.leases.iter().position(|known| *known == lease) {
            Some(position) => position + 1,
            None => {
                self.leases.push(lease);
                self.leases.len()
            }
        };
        Ok(Performed::ok(json!({"found": true, "lease": format!("L{number}"), "grantedTTL": granted})))
    }

    pub(super) async fn revoke_lease(&mut self, step: &KeyStep) -> Result<Performed> {
        let lease = self.at(&step.key).await?.and_then(|kv| kv.lease);
        let Some(lease) = lease else { bail!("there is no lease on {:?}", step.key) };
        Ok(match self.raw.revoke_lease(lease).await {
            Ok(()) => Performed::nothing(),
            Err(error) => Performed::err(backend_error_value(&error)),
        })
    }

    async fn at(&self, key: &str) -> Result<Option<KeyValue>> {
        Ok(self.raw.get(GetRequest::new(self.backend_key(key))).await?.kv)
    }
}

/// The value as text, if it is printable ASCII.
fn printable(value: &[u8]) -> Option<&str> {
    let printable = |byte: &u8| matches!(byte, b'\n' | b'\t' | 0x20..=0x7e);
    std::str::from_utf8(value).ok().filter(|_| value.iter().all(printable))
}
