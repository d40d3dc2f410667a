//! Create.

use kubestore_core::{CreateOptions, Object, Result, StorageError};
use kubestore_kv::PutRequest;
use kubestore_metrics::EtcdOperation;
use tracing::Instrument as _;

use crate::{
    operation::{Operation, operation},
    store::Inner,
    write::Put,
};

impl<T: Object> Inner<T> {
    pub(crate) async fn create(&self, key: &str, object: T, options: &CreateOptions) -> Result<T> {
        let mut trace = operation!(self, "create", key);
        let span = trace.span();
        let created = self.create_traced(key, object, options, &mut trace).instrument(span).await;
        created.map_err(|error| error.with_operation("create"))
    }

    async fn create_traced(
        &self,
        key: &str,
        mut object: T,
        options: &CreateOptions,
        trace: &mut Operation,
    ) -> Result<T> {
        let key = self.prefix.prepare(key)?;
        if self.versioner.resource_version(&object).is_ok_and(|version| version != 0) {
            let text = "resourceVersion should not be set on objects to be created";
            return Err(StorageError::other(text).with_key(key));
        }
        self.prepare_for_storage(&mut object, &key)?;
        let data =
            self.codec.encode(&object).map_err(|cause| StorageError::unencodable(key.as_str(), cause))?;
        trace.step("encoded", data.len());
        let request = |sealed| PutRequest::create(key.clone(), sealed);
        match self.put(EtcdOperation::Create, &key, data, options.ttl_seconds, request, trace).await? {
            Put::Done(revision) => {
                self.set_revision(&mut object, &key, revision);
                Ok(object)
            }
            Put::Conflict(_) => Err(StorageError::key_exists(key)),
        }
    }
}
