//! The state of an object that an update or deletion starts from.

use bytes::Bytes;
use kubestore_core::{CodecError, NotFound, Object, Result, StorageError};
use kubestore_kv::{GetRequest, KeyValue, Revision};

use crate::{error, queue::Written, store::Inner, value::resource_version};

/// An object as it is, or as a caller remembers it.
pub(crate) struct State<T> {
    /// `None` when there is no object at the key.
    pub(crate) object: Option<T>,
    /// What a write is conditional on; 0 when there is no object.
    pub(crate) revision: Revision,
    /// The plain stored form, to see whether an update changes anything.
    pub(crate) data: Encoded,
    /// The stored form is not as it would be written now.
    pub(crate) stale: bool,
    /// Read from the backend, not remembered or handed on.
    pub(crate) current: bool,
}

/// The plain stored form of a state.
pub(crate) enum Encoded {
    /// There is no object.
    Absent,
    /// As it is stored, or would be.
    Data(Bytes),
    /// A remembered object that could not be stored.
    Refused(CodecError),
}

impl Encoded {
    pub(crate) fn is(&self, data: &Bytes) -> bool {
        matches!(self, Self::Data(own) if own == data)
    }
}

impl<T> State<T> {
    pub(crate) fn resource_version(&self) -> u64 {
        resource_version(self.revision)
    }
}

impl<T: Object> Inner<T> {
    /// The state of `key` in the backend.
    pub(crate) async fn read_state(&self, key: &str, not_found: NotFound) -> Result<State<T>> {
        let request = GetRequest::new(key.to_owned());
        let answer = self.kv_get(request).await.map_err(|cause| error::from_kv(cause, key))?;
        self.state_of(answer.kv, key, not_found).await
    }

    /// The state that `kv` is.
    pub(crate) async fn state_of(
        &self,
        kv: Option<KeyValue>,
        key: &str,
        not_found: NotFound,
    ) -> Result<State<T>> {
        let Some(kv) = kv else {
            return match not_found {
                NotFound::Fail => Err(StorageError::key_not_found(key)),
                NotFound::Ignore => Ok(State {
                    object: None,
                    revision: Revision(0),
                    data: Encoded::Absent,
                    stale: false,
                    current: true,
                }),
            };
        };
        let opened = self.open(kv.value, key.as_bytes()).await;
        let opened = opened.map_err(|cause| error::from_transform(cause, key))?;
        let object = self.decode(opened.data.clone(), key, kv.mod_revision)?;
        Ok(State {
            object: Some(object),
            revision: kv.mod_revision,
            data: Encoded::Data(opened.data),
            stale: opened.stale,
            current: true,
        })
    }

    /// The state that a caller remembers. It is trusted whatever its content, as in the reference.
    pub(crate) fn remembered_state(&self, mut object: T, key: &str) -> Result<State<T>> {
        let version = self.versioner.resource_version(&object).map_err(|cause| {
            StorageError::other(format!("couldn't get resource version: {cause}")).with_key(key)
        })?;
        self.prepare_for_storage(&mut object, key)?;
        let data = match self.codec.encode(&object) {
            Ok(data) => Encoded::Data(data),
            Err(cause) => Encoded::Refused(cause),
        };
        let revision = Revision(version.cast_signed());
        self.set_revision(&mut object, key, revision);
        Ok(State { object: Some(object), revision, data, stale: false, current: false })
    }

    /// The state that an update of this process has just written. Another process may have written since, so it is trusted
    /// like what a caller remembers. `None` where it cannot be read: the backend's error is the one to tell.
    pub(crate) fn written_state(&self, written: Written, key: &str) -> Option<State<T>> {
        let Written { revision, data } = written;
        let mut object = self.codec.decode(data.clone()).ok()?;
        self.set_revision(&mut object, key, revision);
        let data = Encoded::Data(data);
        Some(State { object: Some(object), revision, data, stale: false, current: false })
    }

    /// Clears what is never stored.
    pub(crate) fn prepare_for_storage(&self, object: &mut T, key: &str) -> Result<()> {
        self.versioner.prepare_for_storage(object).map_err(|cause| {
            StorageError::other(format!("PrepareObjectForStorage failed: {cause}")).with_key(key)
        })
    }
}
