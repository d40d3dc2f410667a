//! From stored bytes to objects, and a get.

use anyhow::{Result, anyhow};
use bytes::Bytes;
use kubestore_codec::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
use kubestore_core::{Codec as _, NotFound, StorageError, Versioner as _, parse_resource_version, quote};
use kubestore_kv::KeyValue;
use kubestore_transform::{Transformer, ValueContext};

use super::Model;
use crate::{recording::GetStep, replay::Performed};

/// The answer of the store, or what is wrong with the scenario.
pub(super) type Answer<T> = Result<T, StorageError>;

/// A key as an update or a deletion sees it.
#[derive(Debug)]
pub(super) struct State {
    /// `None`: it does not exist, which is no error.
    pub(super) object: Option<Unstructured>,
    pub(super) revision: i64,
    /// The stored form, opened.
    pub(super) data: Bytes,
    pub(super) stale: bool,
}

impl Model {
    pub(super) fn get(&mut self, step: &GetStep) -> Result<Performed> {
        let options = self.results.get_options(step);
        let ignore = options.not_found == NotFound::Ignore;
        let found = self.read(&step.key, &options.resource_version, ignore);
        self.returned(found)
    }

    fn read(&self, key: &str, minimum: &str, ignore: bool) -> Answer<Option<Unstructured>> {
        let key = self.prefix.prepare(key)?;
        self.check_minimum(minimum)?;
        Ok(self.state(&key, ignore)?.object)
    }

    /// The newest state must not be older than asked for.
    pub(super) fn check_minimum(&self, text: &str) -> Answer<()> {
        let minimum =
            parse_resource_version(text).map_err(|error| StorageError::bad_resource_version(&error))?;
        let head = self.keys.head.cast_unsigned();
        if minimum > head { Err(StorageError::too_large_resource_version(minimum, head, 0)) } else { Ok(()) }
    }

    /// The state of a backend key.
    pub(super) fn state(&self, key: &str, ignore_not_found: bool) -> Answer<State> {
        match self.keys.current(key) {
            Some(kv) => self.opened(key, kv),
            None if ignore_not_found => {
                Ok(State { object: None, revision: 0, data: Bytes::new(), stale: false })
            }
            None => Err(StorageError::key_not_found(key)),
        }
    }

    fn opened(&self, key: &str, kv: &KeyValue) -> Answer<State> {
        let (data, stale) = self.open(key, &kv.value).map_err(StorageError::internal)?;
        let object = decode(key, data.clone(), kv.mod_revision.0)?;
        Ok(State { object: Some(object), revision: kv.mod_revision.0, data, stale })
    }

    /// One object of a list.
    pub(super) fn item(&self, key: &str, kv: &KeyValue) -> Answer<Unstructured> {
        let opened = self.open(key, &kv.value);
        let (data, _) = opened.map_err(|text| {
            StorageError::internal(format!("unable to transform key {}: {text}", quote(key)))
        })?;
        decode(key, data, kv.mod_revision.0)
    }

    fn open(&self, key: &str, value: &Bytes) -> Result<(Bytes, bool), String> {
        open(&*self.transformer, key, value)
    }

    pub(super) fn seal(&self, key: &str, data: Bytes) -> Result<Bytes> {
        let context = ValueContext::new(key.as_bytes());
        match self.transformer.transform_to_storage(data, context).try_now() {
            Ok(sealed) => Ok(sealed?),
            Err(_) => Err(anyhow!("the transformer is not local")),
        }
    }

    pub(super) fn returned(&self, answer: Answer<Option<Unstructured>>) -> Result<Performed> {
        match answer {
            Ok(object) => Performed::object(object, self.notation.base),
            Err(error) => Ok(Performed::failed(&error, &self.notation)),
        }
    }
}

/// A stored value without its encryption, and whether it should be rewritten; or what Kubernetes says.
pub(super) fn open(transformer: &dyn Transformer, key: &str, value: &Bytes) -> Result<(Bytes, bool), String> {
    let context = ValueContext::new(key.as_bytes());
    match transformer.transform_from_storage(value.clone(), context).try_now() {
        Ok(Ok(opened)) => Ok((opened.data, opened.stale)),
        Ok(Err(error)) => Err(error.status_message().into_owned()),
        Err(_) => Err("the transformer is not local".to_owned()),
    }
}

/// An object with the resource version it was read at; one without a place for it stays as it is.
pub(super) fn decode(key: &str, data: Bytes, revision: i64) -> Answer<Unstructured> {
    let decoded = UnstructuredCodec.decode(data);
    let mut object = decoded.map_err(|error| StorageError::corrupt(key, error))?;
    let _no_place_for_it = UnstructuredVersioner.set_resource_version(&mut object, revision.cast_unsigned());
    Ok(object)
}
