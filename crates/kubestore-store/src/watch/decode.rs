//! From changes of keys to events of objects.

use bytes::Bytes;
use kubestore_core::{Object, Result, StorageError, WatchEvent, quote};
use kubestore_kv::{KeyValue, KvEvent, KvEventKind, Revision};

use crate::{
    error,
    selection::{Selection, Tried},
    store::Inner,
    value::resource_version,
};

impl<T: Object> Inner<T> {
    /// The ADDED event of an object that existed when the watch began, if it is wanted.
    pub(super) async fn existing(
        &self,
        kv: KeyValue,
        selection: &Selection,
    ) -> Result<Option<WatchEvent<T>>> {
        let object = self.side(kv.value, &kv.key, kv.mod_revision, selection, true).await?;
        Ok(object.object.map(WatchEvent::Added))
    }

    /// The event of a change, if either side of it is wanted.
    pub(super) async fn changed(
        &self,
        event: KvEvent,
        selection: &Selection,
    ) -> Result<Option<WatchEvent<T>>> {
        let created = event.is_create();
        let KvEvent { kind, kv, previous, .. } = event;
        let revision = kv.mod_revision;
        if previous.is_none() && !created {
            return Err(without_previous(kind, &kv));
        }
        // An empty value counts as none, as in the reference.
        let previous = previous.map(|previous| previous.value).filter(|value| !value.is_empty());
        if kind == KvEventKind::Delete {
            let Some(value) = previous else {
                return Err(
                    StorageError::other("the deleted object's last state is empty").with_key(lossy(&kv.key))
                );
            };
            let last = self.side(value, &kv.key, revision, selection, true).await?;
            return Ok(last.object.map(WatchEvent::Deleted));
        }
        let now = self.side(kv.value, &kv.key, revision, selection, true).await?;
        if created {
            return Ok(now.object.map(WatchEvent::Added));
        }
        if selection.is_everything() {
            return Ok(now.object.map(WatchEvent::Modified));
        }
        // Only where it no longer matches is the object itself needed: it is what the caller gets as deleted.
        let needed = now.object.is_none();
        let before = match previous {
            Some(value) => self.side(value, &kv.key, revision, selection, needed).await?,
            None => Tried { matches: false, object: None },
        };
        Ok(match (now.object, before.matches) {
            (Some(object), true) => Some(WatchEvent::Modified(object)),
            (Some(object), false) => Some(WatchEvent::Added(object)),
            (None, true) => before.object.map(WatchEvent::Deleted),
            (None, false) => None,
        })
    }

    /// One side of a change: opened, tried, and decoded where it matches and is `needed`.
    async fn side(
        &self,
        stored: Bytes,
        key: &Bytes,
        revision: Revision,
        selection: &Selection,
        needed: bool,
    ) -> Result<Tried<T>> {
        let opened = self.open(stored, key).await;
        let key = String::from_utf8_lossy(key);
        let data = opened.map_err(|cause| error::from_transform(cause, &key))?.data;
        self.tried(data, &key, selection, needed, |data| self.decode_event(data, &key, revision))
    }

    /// In a watch an object without a place for its resource version is an error: the caller could not go on from it.
    fn decode_event(&self, data: Bytes, key: &str, revision: Revision) -> Result<T> {
        let mut object = self.codec.decode(data).map_err(|cause| self.undecodable(cause, key))?;
        match self.versioner.set_resource_version(&mut object, resource_version(revision)) {
            Ok(()) => Ok(object),
            Err(cause) => {
                let name = std::any::type_name::<T>();
                let text = format!("failure to version api object ({revision}) {name}: {cause}");
                Err(StorageError::other(text).with_key(key))
            }
        }
    }
}

fn without_previous(kind: KvEventKind, kv: &KeyValue) -> StorageError {
    let name = match kind {
        KvEventKind::Put => "PUT",
        KvEventKind::Delete => "DELETE",
    };
    let key = lossy(&kv.key);
    let revision = kv.mod_revision;
    let quoted = quote(&key);
    let text =
        format!("etcd event received with PrevKv=nil (key={quoted}, modRevision={revision}, type={name})");
    StorageError::other(text).with_key(key)
}

fn lossy(key: &[u8]) -> String {
    String::from_utf8_lossy(key).into_owned()
}
