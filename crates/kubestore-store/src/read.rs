//! Get, count, the current resource version and readiness.

use kubestore_core::{GetOptions, NotFound, Object, Result, StorageError, parse_resource_version};
use kubestore_kv::{GetRequest, Revision};
use tracing::Instrument as _;

use crate::{
    error,
    operation::{Operation, operation},
    store::Inner,
    value::resource_version,
};

impl<T: Object> Inner<T> {
    pub(crate) async fn get(&self, key: &str, options: &GetOptions) -> Result<Option<T>> {
        let mut trace = operation!(self, "get", key);
        let span = trace.span();
        let found = self.get_traced(key, options, &mut trace).instrument(span).await;
        found.map_err(|error| error.with_operation("get"))
    }

    async fn get_traced(&self, key: &str, options: &GetOptions, trace: &mut Operation) -> Result<Option<T>> {
        let key = self.prefix.prepare(key)?;
        let request = GetRequest::new(key.clone());
        let answer = self.kv_get(request).await.map_err(|cause| error::from_kv(cause, &key))?;
        trace.step("read", answer.kv.as_ref().map_or(0, |kv| kv.value.len()));
        check_not_older(&options.resource_version, answer.head)
            .map_err(|error| error.with_key(key.as_str()))?;
        let Some(kv) = answer.kv else {
            return match options.not_found {
                NotFound::Ignore => Ok(None),
                NotFound::Fail => Err(StorageError::key_not_found(key)),
            };
        };
        let opened = self.open(kv.value, key.as_bytes()).await;
        let opened = opened.map_err(|cause| error::from_transform(cause, &key))?;
        trace.step("opened", opened.data.len());
        let object = self.decode(opened.data, &key, kv.mod_revision)?;
        trace.step("decoded", 1);
        Ok(Some(object))
    }

    pub(crate) async fn count(&self, key: &str) -> Result<i64> {
        let trace = operation!(self, "count", key);
        let counted = async {
            let prefix = self.prefix.prepare_recursive(key)?;
            self.kv_count(prefix.clone().into()).await.map_err(|cause| error::from_kv(cause, &prefix))
        };
        let counted = counted.instrument(trace.span()).await;
        counted.map_err(|error| error.with_operation("count"))
    }

    /// Reads the resource's own key, which holds nothing: only the backend's revision is wanted.
    pub(crate) async fn current_resource_version(&self) -> Result<u64> {
        let head = self.head().await.map_err(|error| error.with_operation("get"))?;
        Ok(resource_version(head))
    }

    async fn head(&self) -> Result<Revision> {
        let key = self.prefix.prepare(&self.resource_prefix)?;
        let answer = self.kv_get(GetRequest::new(key.clone())).await;
        Ok(answer.map_err(|cause| error::from_kv(cause, &key))?.head)
    }

    pub(crate) async fn readiness(&self) -> Result<()> {
        self.head().await.map_err(|error| error.with_operation("readiness"))?;
        Ok(())
    }
}

/// Refuses an answer given at `head` when the caller knows of a newer resource version.
pub(crate) fn check_not_older(minimum: &str, head: Revision) -> Result<()> {
    let minimum =
        parse_resource_version(minimum).map_err(|error| StorageError::bad_resource_version(&error))?;
    let head = resource_version(head);
    if minimum > head {
        return Err(StorageError::too_large_resource_version(minimum, head, 0));
    }
    Ok(())
}
