//! Steps that act on the backend.

use anyhow::{Context, Result};
use kubestore_core::StorageError;
use serde_json::json;

use super::Model;
use crate::{
    recording::{CompactStep, CopyStep, CountStep, KeyStep, PutStep},
    replay::{Performed, lease_value, missing, raw_bytes, stored_value},
};

impl Model {
    pub(super) fn count(&mut self, step: &CountStep) -> Result<Performed> {
        let prefix = match self.prefix.prepare_recursive(&step.key) {
            Ok(prefix) => prefix,
            Err(error) => return Ok(Performed::failed(&StorageError::from(error), &self.notation)),
        };
        let count = self.keys.range(&prefix, &prefix, self.keys.head).count();
        Ok(Performed::ok(json!({ "count": count })))
    }

    pub(super) fn compact(&mut self, step: &CompactStep) -> Result<Performed> {
        let text = self.notation.base.absolute_text(&step.revision);
        let revision: i64 = text.parse().with_context(|| format!("revision {text:?}"))?;
        let message = match revision {
            _ if revision <= self.keys.compacted => "etcdserver: mvcc: required revision has been compacted",
            _ if revision > self.keys.head => "etcdserver: mvcc: required revision is a future revision",
            _ => {
                self.keys.compacted = revision;
                return Ok(Performed::nothing());
            }
        };
        Ok(Performed::err(json!({"kind": "Other", "message": message})))
    }

    pub(super) fn raw_put(&mut self, step: &PutStep) -> Result<Performed> {
        let key = self.backend_key(&step.key);
        self.keys.put(&key, raw_bytes(step)?.into(), None);
        Ok(Performed::nothing())
    }

    pub(super) fn raw_delete(&mut self, step: &KeyStep) -> Performed {
        let key = self.backend_key(&step.key);
        let deleted = u8::from(self.keys.current(&key).is_some());
        self.keys.delete([key.as_str()]);
        Performed::ok(json!({ "deleted": deleted }))
    }

    pub(super) fn raw_copy(&mut self, step: &CopyStep) -> Performed {
        let Some(from) = self.keys.current(&self.backend_key(&step.from)) else {
            return Performed::err(missing());
        };
        let (to, value) = (self.backend_key(&step.to), from.value.clone());
        self.keys.put(&to, value, None);
        Performed::nothing()
    }

    pub(super) fn raw_get(&mut self, step: &KeyStep) -> Performed {
        let kv = self.keys.current(&self.backend_key(&step.key));
        Performed::ok(stored_value(kv, self.notation.base))
    }

    pub(super) fn lease_of(&mut self, step: &KeyStep) -> Performed {
        let kv = self.keys.current(&self.backend_key(&step.key));
        let found = kv.is_some();
        let Some(lease) = kv.and_then(|kv| kv.lease) else { return Performed::ok(lease_value(found, None)) };
        if !self.named.contains(&lease.0) {
            self.named.push(lease.0);
        }
        let number = self.named.iter().position(|known| *known == lease.0).map_or(0, |position| position + 1);
        Performed::ok(lease_value(found, Some((number, self.leases.granted_seconds(lease.0)))))
    }

    pub(super) fn revoke_lease(&mut self, step: &KeyStep) -> Performed {
        let lease = self.keys.current(&self.backend_key(&step.key)).and_then(|kv| kv.lease);
        let Some(lease) = lease else { return Performed::err(missing()) };
        self.end_lease(lease.0);
        Performed::nothing()
    }

    /// All keys of a lease go in one revision.
    pub(super) fn end_lease(&mut self, lease: i64) {
        self.leases.end(lease);
        let keys = self.keys.with_lease(lease);
        self.keys.delete(keys.iter().map(String::as_str));
    }
}
