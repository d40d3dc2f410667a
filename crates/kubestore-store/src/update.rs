//! Guaranteed update.

use bytes::Bytes;
use kubestore_core::{Object, ResponseMeta, Result, StorageError, UpdateFn, UpdateOptions};
use kubestore_kv::{PutRequest, Revision};
use kubestore_metrics::EtcdOperation;
use tracing::Instrument as _;

use crate::{
    operation::{Operation, operation},
    queue::{Turn, Written},
    state::{Encoded, State},
    store::Inner,
    write::Put,
};

/// An update under way.
struct Update<'a> {
    /// The whole key.
    key: &'a str,
    options: &'a UpdateOptions,
    turn: Turn,
}

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
        let turn = self.updates.turn(&key).await;
        if turn.waited() {
            trace.step("turn taken", 0);
        }
        let this = Update { key: &key, options, turn };
        let mut state = self.origin(&this, cached).await?;
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
            match self.attempt(&this, state, change, trace).await? {
                Attempt::Done(object) => return Ok(object),
                Attempt::Again(newer) => state = newer,
            }
        }
    }

    /// What the update starts from: the newest state that is known without asking, else the backend's.
    async fn origin(&self, this: &Update<'_>, cached: Option<T>) -> Result<State<T>> {
        let remembered = cached.map(|object| self.remembered_state(object, this.key)).transpose()?;
        if let Some(written) = this.turn.before()
            && remembered.as_ref().is_none_or(|state| state.revision < written.revision)
            && let Some(state) = self.written_state(written, this.key)
        {
            return Ok(state);
        }
        match remembered {
            Some(state) => Ok(state),
            None => self.read_state(this.key, this.options.not_found).await,
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
        this: &Update<'_>,
        mut state: State<T>,
        change: Change<T>,
        trace: &mut Operation,
    ) -> Result<Attempt<T>> {
        let key = this.key;
        let data =
            self.codec.encode(&change.object).map_err(|cause| StorageError::unencodable(key, cause))?;
        trace.step("encoded", data.len());
        if !state.stale && state.data.is(&data) {
            if !state.current {
                // Equal to what the caller remembers; only the backend knows whether it still is so.
                state = self.read_state(key, this.options.not_found).await?;
                if !state.data.is(&data) {
                    return Ok(Attempt::Again(state));
                }
            }
            if !state.stale {
                return Ok(Attempt::Done(self.written(change.object, key, state.revision)));
            }
        }
        if let Encoded::Data(stored) = &state.data
            && *stored != data
        {
            let replaceable = self.codec.replaceable(stored);
            replaceable.map_err(|cause| StorageError::unencodable(key, cause))?;
        }
        self.write_change(this, state.revision, change, data, trace).await
    }

    async fn write_change(
        &self,
        this: &Update<'_>,
        expected: Revision,
        change: Change<T>,
        data: Bytes,
        trace: &mut Operation,
    ) -> Result<Attempt<T>> {
        let key = this.key;
        let request = |sealed| PutRequest::update(key.to_owned(), sealed, expected);
        let put = self.put(EtcdOperation::Update, key, data.clone(), change.ttl_seconds, request, trace);
        match put.await? {
            Put::Done(revision) => {
                this.turn.hand_on(Written { revision, data });
                Ok(Attempt::Done(self.written(change.object, key, revision)))
            }
            Put::Conflict(current) => {
                tracing::debug!(key, "an update met a conflict; trying again");
                let state = self.state_of(current, key, this.options.not_found).await?;
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
