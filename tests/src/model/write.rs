//! Create, update and delete, step by step as the reference does them.

use anyhow::{Result, anyhow};
use bytes::Bytes;
use kubestore_codec::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
use kubestore_core::{Codec as _, ResponseMeta, StorageError, Versioner as _};
use serde_json::{Value, json};

use super::{
    Behaviour, Model,
    read::{Answer, State, decode},
};
use crate::{
    differences,
    recording::{CreateStep, DeleteStep, Step, Try, UpdateStep, Validation, go_json},
    replay::{Performed, Subject, answer, call_value, object_value, untyped, verdict},
};

/// The answer of the store inside, what is wrong with the scenario outside.
type Outcome<T> = Result<Answer<T>>;

/// Goes on with the value of an answer, or returns its error as the answer.
macro_rules! answered {
    ($answer:expr) => {
        match $answer {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}

impl Model {
    pub(super) fn create(&mut self, step: &CreateStep) -> Result<Performed> {
        let object = self.results.object(&step.obj)?;
        Ok(match self.created(step, object)? {
            Ok(_) if !step.out => Performed::nothing(),
            created => self.written(created)?,
        })
    }

    fn created(&mut self, step: &CreateStep, mut object: Unstructured) -> Outcome<Unstructured> {
        let key = answered!(self.prefix.prepare(&step.key).map_err(StorageError::from));
        if UnstructuredVersioner.resource_version(&object).is_ok_and(|version| version != 0) {
            let text = "resourceVersion should not be set on objects to be created";
            return Ok(Err(StorageError::other(text)));
        }
        UnstructuredVersioner.prepare_for_storage(&mut object).map_err(|error| anyhow!(error))?;
        let data = answered!(self.encode(&key, &object, false)?);
        let lease = answered!(self.lease(step.ttl));
        let sealed = self.seal(&key, data.clone())?;
        if self.keys.current(&key).is_some() {
            return Ok(Err(StorageError::key_exists(key)));
        }
        let revision = answered!(self.put(&key, sealed, lease, step.ttl));
        // Nobody decodes what nobody wants returned.
        if step.out { Ok(decode(&key, data, revision)) } else { Ok(Ok(object)) }
    }

    /// The steps inside the function are given apart: they are run, and told what came of them.
    pub(super) fn update(&mut self, step: &UpdateStep, nested: &mut [Step]) -> Result<Performed> {
        let cached = self.results.cached(step.cached.as_ref())?;
        let mut calls = Vec::new();
        let updated = self.updated(step, nested, cached, &mut calls)?;
        let mut performed = self.written(updated)?;
        performed.seen.calls = Some(calls);
        Ok(performed)
    }

    fn updated(
        &mut self,
        step: &UpdateStep,
        nested: &mut [Step],
        cached: Option<Unstructured>,
        calls: &mut Vec<Value>,
    ) -> Outcome<Unstructured> {
        let key = answered!(self.prefix.prepare(&step.key).map_err(StorageError::from));
        let preconditions = self.results.preconditions(step.preconditions.as_ref()).unwrap_or_default();
        let mut current = cached.is_none();
        let mut state = match cached {
            Some(object) => answered!(cached_state(object)?),
            None => answered!(self.state(&key, step.ignore_not_found)),
        };
        loop {
            let checked = preconditions.check(&key, state.object.as_ref(), &UnstructuredVersioner);
            if let Err(error) = checked {
                if current {
                    return Ok(Err(error));
                }
                state = answered!(self.state(&key, step.ignore_not_found));
                current = true;
                continue;
            }
            let (object, ttl) = match self.call(&key, &step.attempt, &state, nested, calls)? {
                Ok(updated) => updated,
                Err(error) if current => return Ok(Err(error)),
                Err(error) => {
                    let seen = state.revision;
                    state = answered!(self.state(&key, step.ignore_not_found));
                    current = true;
                    if seen == state.revision {
                        return Ok(Err(error));
                    }
                    continue;
                }
            };
            let null = state.object.is_none() && object.is_empty() && step.attempt.replace.is_none();
            let data = answered!(self.encode(&key, &object, null)?);
            if !state.stale && data == state.data {
                if !current {
                    state = answered!(self.state(&key, step.ignore_not_found));
                    current = true;
                    if data != state.data {
                        continue;
                    }
                }
                if !state.stale {
                    return Ok(decode(&key, data, state.revision));
                }
            }
            let lease = answered!(self.lease(ttl));
            let sealed = self.seal(&key, data.clone())?;
            if self.revision_of(&key) != state.revision {
                state = answered!(self.state(&key, step.ignore_not_found));
                current = true;
                continue;
            }
            let revision = answered!(self.put(&key, sealed, lease, ttl));
            return Ok(decode(&key, data, revision));
        }
    }

    /// Calls the update function; what it returns is made ready to be stored.
    fn call(
        &mut self,
        key: &str,
        attempt: &Try,
        state: &State,
        nested: &mut [Step],
        calls: &mut Vec<Value>,
    ) -> Outcome<(Unstructured, i64)> {
        let meta = ResponseMeta::new(state.revision.cast_unsigned());
        calls.push(call_value(state.object.as_ref(), meta, self.notation.base)?);
        if calls.len() == 1 {
            self.run_nested(nested)?;
        }
        let subject = Subject { resource: &self.resource, key };
        let updated = answer(attempt, calls.len(), state.object.clone(), &self.results, subject)?;
        let updated = answered!(updated);
        let mut object = updated.object;
        UnstructuredVersioner.prepare_for_storage(&mut object).map_err(|error| anyhow!(error))?;
        Ok(Ok((object, updated.ttl_seconds.unwrap_or_default().cast_signed())))
    }

    pub(super) fn delete(&mut self, step: &DeleteStep, nested: &mut [Step]) -> Result<Performed> {
        let cached = self.results.cached(step.cached.as_ref())?;
        let mut calls = Vec::new();
        let deleted = self.deleted(step, nested, cached, &mut calls)?;
        let mut performed = self.returned(deleted.map(Some))?;
        performed.seen.validate_calls = Some(calls);
        Ok(performed)
    }

    fn deleted(
        &mut self,
        step: &DeleteStep,
        nested: &mut [Step],
        cached: Option<Unstructured>,
        calls: &mut Vec<Value>,
    ) -> Outcome<Unstructured> {
        let key = answered!(self.prefix.prepare(&step.key).map_err(StorageError::from));
        let mut current = cached.is_none();
        let mut state = match cached {
            Some(object) => answered!(cached_state(object)?),
            None => answered!(self.state(&key, false)),
        };
        loop {
            if let Err(error) = self.allowed(&key, step, &state, nested, calls)? {
                if current {
                    return Ok(Err(error));
                }
                let seen = state.revision;
                state = answered!(self.state(&key, false));
                current = true;
                if seen == state.revision {
                    return Ok(Err(error));
                }
                continue;
            }
            if self.revision_of(&key) == state.revision {
                let revision = self.keys.delete([key.as_str()]);
                return Ok(decode(&key, state.data, revision));
            }
            state = answered!(self.state(&key, false));
            current = true;
        }
    }

    fn allowed(
        &mut self,
        key: &str,
        step: &DeleteStep,
        state: &State,
        nested: &mut [Step],
        calls: &mut Vec<Value>,
    ) -> Outcome<()> {
        if let Some(preconditions) = self.results.preconditions(step.preconditions.as_ref()) {
            let object = state.object.as_ref();
            answered!(preconditions.check(key, object, &UnstructuredVersioner));
        }
        let object = state.object.as_ref().ok_or_else(|| anyhow!("a deletion of nothing"))?;
        calls.push(json!({ "obj": object_value(Some(object), self.notation.base)? }));
        let Some(Validation::Rules(rules)) = &step.validate else { return Ok(Ok(())) };
        if calls.len() == 1 {
            self.run_nested(nested)?;
        }
        verdict(rules, object)
    }

    /// Whether a write is refused is known here: before it is kubestore's to say, afterwards it was the reference's.
    fn written(&self, answer: Answer<Unstructured>) -> Result<Performed> {
        match answer {
            Err(error) if error.kind() == kubestore_core::ErrorKind::Unencodable => {
                Ok(Performed::err(differences::refused()))
            }
            answer => self.returned(answer.map(Some)),
        }
    }

    /// The stored form. Kubestore refuses what could not be read again.
    fn encode(&self, key: &str, object: &Unstructured, null: bool) -> Outcome<Bytes> {
        if self.behaviour == Behaviour::Own
            && let Err(error) = UnstructuredCodec.encode(object)
        {
            return Ok(Err(StorageError::unencodable(key, error)));
        }
        if null { Ok(Ok(Bytes::from_static(b"null\n"))) } else { Ok(Ok(plain(object)?)) }
    }

    fn revision_of(&self, key: &str) -> i64 {
        self.keys.current(key).map_or(0, |kv| kv.mod_revision.0)
    }

    fn lease(&mut self, ttl: i64) -> Answer<Option<i64>> {
        if ttl == 0 {
            return Ok(None);
        }
        let lease = self.leases.get(ttl.cast_unsigned(), self.now);
        lease.map(Some).ok_or_else(|| StorageError::other("etcdserver: too large lease TTL"))
    }

    /// Puts; a lease that has ended meanwhile is the reference's failure, and kubestore grants another.
    fn put(&mut self, key: &str, sealed: Bytes, lease: Option<i64>, ttl: i64) -> Answer<i64> {
        let mut lease = lease;
        if lease.is_some_and(|lease| !self.leases.alive(lease)) {
            if self.behaviour == Behaviour::Reference {
                return Err(StorageError::other("etcdserver: requested lease not found"));
            }
            self.leases.forget();
            lease = self.lease(ttl)?;
        }
        Ok(self.keys.put(key, sealed, lease))
    }
}

/// The state that a cached object stands for.
fn cached_state(mut object: Unstructured) -> Outcome<State> {
    let version = match UnstructuredVersioner.resource_version(&object) {
        Ok(version) => version,
        Err(error) => return Ok(Err(StorageError::other(format!("couldn't get resource version: {error}")))),
    };
    UnstructuredVersioner.prepare_for_storage(&mut object).map_err(|error| anyhow!(error))?;
    let data = plain(&object)?;
    let _no_place_for_it = UnstructuredVersioner.set_resource_version(&mut object, version);
    Ok(Ok(State { object: Some(object), revision: version.cast_signed(), data, stale: false }))
}

fn plain(object: &Unstructured) -> Result<Bytes> {
    Ok(Bytes::from(go_json(&untyped(object)?) + "\n"))
}
