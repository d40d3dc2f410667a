//! Delete.

use kubestore_core::{DeleteOptions, NotFound, Object, Result, StorageError, ValidateDeletion};
use kubestore_kv::{DeleteRequest, WriteOutcome};
use tracing::Instrument as _;

use crate::{
    error,
    operation::{Operation, operation},
    state::{Encoded, State},
    store::Inner,
};

impl<T: Object> Inner<T> {
    pub(crate) async fn delete(
        &self,
        key: &str,
        options: &DeleteOptions,
        validate: &mut dyn ValidateDeletion<T>,
        cached: Option<T>,
    ) -> Result<T> {
        let mut trace = operation!(self, "delete", key);
        let span = trace.span();
        let deleted = self.delete_traced(key, options, validate, cached, &mut trace).instrument(span).await;
        deleted.map_err(|error| error.with_operation("delete"))
    }

    async fn delete_traced(
        &self,
        key: &str,
        options: &DeleteOptions,
        validate: &mut dyn ValidateDeletion<T>,
        cached: Option<T>,
        trace: &mut Operation,
    ) -> Result<T> {
        let key = self.prefix.prepare(key)?;
        let mut state = match cached {
            Some(object) => self.remembered_state(object, &key)?,
            None => self.read_state(&key, NotFound::Fail).await?,
        };
        trace.step("initial value restored", 0);
        loop {
            if let Err(error) = self.may_delete(&key, options, validate, &state).await {
                if state.current {
                    return Err(error);
                }
                let remembered = state.revision;
                state = self.read_state(&key, NotFound::Fail).await?;
                if state.revision == remembered {
                    return Err(error);
                }
                continue;
            }
            let answer = self.kv_delete(DeleteRequest::new(key.clone(), state.revision)).await;
            trace.step("transaction", 0);
            match answer.map_err(|cause| error::from_kv(cause, &key))? {
                WriteOutcome::Done { revision } => {
                    return self.last_state(state, &key, revision);
                }
                WriteOutcome::Conflict { current, .. } => {
                    tracing::debug!(key, "a deletion met a conflict; trying again");
                    state = self.state_of(current, &key, NotFound::Fail).await?;
                }
                other => {
                    let text = format!("unexpected answer to a deletion: {other:?}");
                    return Err(StorageError::other(text).with_key(key));
                }
            }
        }
    }

    async fn may_delete(
        &self,
        key: &str,
        options: &DeleteOptions,
        validate: &mut dyn ValidateDeletion<T>,
        state: &State<T>,
    ) -> Result<()> {
        if let Some(preconditions) = &options.preconditions {
            preconditions.check(key, state.object.as_ref(), &*self.versioner)?;
        }
        match &state.object {
            Some(object) => validate.validate(object).await,
            None => Err(StorageError::key_not_found(key)),
        }
    }

    /// What the caller of a deletion gets: the object that was deleted, as of the deletion.
    fn last_state(&self, state: State<T>, key: &str, revision: kubestore_kv::Revision) -> Result<T> {
        if let Encoded::Refused(cause) = state.data
            && !cause.is_readable()
        {
            return Err(StorageError::unencodable(key, cause));
        }
        let mut object = state.object.ok_or_else(|| StorageError::key_not_found(key))?;
        self.set_revision(&mut object, key, revision);
        Ok(object)
    }
}
