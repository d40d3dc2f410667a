//! Guaranteed update.

use bytes::Bytes;
use kubestore_core::{NotFound, Object, ResponseMeta, Result, StorageError, UpdateFn, UpdateOptions};
use kubestore_kv::{PutRequest, Revision};
use kubestore_metrics::EtcdOperation;
use tracing::Instrument as _;

use crate::{
    operation::{Operation, operation},
    state::State,
    store::Inner,
    write::Put,
};

/// What the update function made of a state.
struct Change<T> {
    object: T,
    ttl_seconds: u64,
}

/// How an attempt ended that did not fail.
enum Attempt<T> {
    Done(T),
    /// Try again on this state.
    Again(State<T>),
}

impl<T: Object> Inner<T> {
    pub(crate) async fn update(
        &self,
        key: &str,
        options: &UpdateOptions,
        update: &mut dyn UpdateFn<T>,
        cached: Option<T>,
    ) -> Result<T> {
        let mut trace = operation!(self, "update", key);
        let span = trace.span();
        let updated = self.update_traced(key, options, update, cached, &mut trace).instrument(span).await;
        updated.map_err(|error| error.with_operation("update"))
    }

    async fn update_traced(
        &self,
        key: &str,
        options: &UpdateOptions,
        update: &mut dyn UpdateFn<T>,
        cached: Option<T>,
        trace: &mut Operation,
    ) -> Result<T> {
        let key = self.prefix.prepare(key)?;
        let mut state = match cached {
            Some(object) => self.remembered_state(object, &key)?,
            None => self.read_state(&key, options.not_found).await?,
        };
        trace.step("initial value restored", 0);
        loop {
            if let Some(preconditions) = &options.preconditions {
                let check = preconditions.check(&key, state.object.as_ref(), &*self.versioner);
                if let Err(error) = check {
                    if state.current {
                        return Err(error);
                    }
                    state = self.read_state(&key, options.not_found).await?;
                    continue;
                }
            }
            let remembered = state.revision;
            let change = match self.change(&mut state, &key, update).await {
                Ok(change) => change,
                Err(error) if state.current => return Err(error),
                Err(error) => {
                    state = self.read_state(&key, options.not_found).await?;
                    if state.revision == remembered {
                        return Err(error);
                    }
                    continue;
                }
            };
            match self.attempt(&key, state, change, options.not_found, trace).await? {
                Attempt::Done(object) => return Ok(object),
                Attempt::Again(newer) => state = newer,
            }
        }
    }

    /// Calls the update function, which takes the state's object.
    async fn change(
        &self,
        state: &mut State<T>,
        key: &str,
        update: &mut dyn UpdateFn<T>,
    ) -> Result<Change<T>> {
        let meta = ResponseMeta::new(state.resource_version());
        let updated = update.update(state.object.take(), meta).await?;
        let mut object = updated.object;
        self.prepare_for_storage(&mut object, key)?;
        Ok(Change { object, ttl_seconds: updated.ttl_seconds.unwrap_or(0) })
    }

    async fn attempt(
        &self,
        key: &str,
        mut state: State<T>,
        change: Change<T>,
        not_found: NotFound,
        trace: &mut Operation,
    ) -> Result<Attempt<T>> {
        let data =
            self.codec.encode(&change.object).map_err(|cause| StorageError::unencodable(key, cause))?;
        trace.step("encoded", data.len());
        if !state.stale && state.data.is(&data) {
            if !state.current {
                // Equal to what the caller remembers; only the backend knows whether it still is so.
                state = self.read_state(key, not_found).await?;
                if !state.data.is(&data) {
                    return Ok(Attempt::Again(state));
                }
            }
            if !state.stale {
                return Ok(Attempt::Done(self.written(change.object, key, state.revision)));
            }
        }
        self.write_change(key, state.revision, change, data, not_found, trace).await
    }

    async fn write_change(
        &self,
        key: &str,
        expected: Revision,
        change: Change<T>,
        data: Bytes,
        not_found: NotFound,
        trace: &mut Operation,
    ) -> Result<Attempt<T>> {
        let request = |sealed| PutRequest::update(key.to_owned(), sealed, expected);
        match self.put(EtcdOperation::Update, key, data, change.ttl_seconds, request, trace).await? {
            Put::Done(revision) => Ok(Attempt::Done(self.written(change.object, key, revision))),
            Put::Conflict(current) => {
                tracing::debug!(key, "an update met a conflict; trying again");
                let state = self.state_of(current, key, not_found).await?;
                trace.step("retry value restored", 0);
                Ok(Attempt::Again(state))
            }
        }
    }

    fn written(&self, mut object: T, key: &str, revision: Revision) -> T {
        self.set_revision(&mut object, key, revision);
        object
    }
}
