//! What exists when a watch begins.

use std::sync::Arc;

use kubestore_core::{ContinueToken, Object, Result, StorageError};
use kubestore_kv::{GetRequest, KeyValue, KvError, KvErrorKind, ListRequest, Revision};

use crate::{error, store::Inner};

/// Objects read at a time.
const PAGE: u64 = 1_000;

/// The state that a watch begins with, read page by page at one revision. The first page is read before the watch is
/// registered, the others while the caller takes the events, so that memory stays bounded.
pub(super) struct Initial {
    pub(super) revision: Revision,
    page: Option<Vec<KeyValue>>,
    next_key: Option<Vec<u8>>,
}

impl Initial {
    /// The first page of everything under `key`, or the one object there.
    pub(super) async fn read<T: Object>(inner: &Arc<Inner<T>>, key: &str, recursive: bool) -> Result<Self> {
        if !recursive {
            let answer = inner.kv_get(GetRequest::new(key.to_owned())).await;
            let answer = answer.map_err(|cause| interpret(cause, key.as_bytes(), key))?;
            let page = Some(answer.kv.into_iter().collect());
            return Ok(Self { revision: answer.head, page, next_key: None });
        }
        let mut first = Self { revision: Revision(0), page: None, next_key: Some(key.as_bytes().to_vec()) };
        first.fetch(inner, key).await?;
        Ok(first)
    }

    /// The next page; `None` after the last.
    pub(super) async fn next_page<T: Object>(
        &mut self,
        inner: &Arc<Inner<T>>,
        key: &str,
    ) -> Result<Option<Vec<KeyValue>>> {
        if self.page.is_none() && self.next_key.is_some() {
            self.fetch(inner, key).await?;
        }
        Ok(self.page.take())
    }

    async fn fetch<T: Object>(&mut self, inner: &Arc<Inner<T>>, key: &str) -> Result<()> {
        let Some(from) = &self.next_key else { return Ok(()) };
        let mut request = ListRequest::new(key.to_owned()).from_key(from.clone()).limit(PAGE);
        request.revision = (self.revision.0 > 0).then_some(self.revision);
        let answer = inner.kv_list(request).await.map_err(|cause| interpret(cause, from, key))?;
        if self.revision.0 == 0 {
            self.revision = answer.head;
        }
        self.next_key = match answer.kvs.last() {
            Some(last) if answer.more => Some([last.key.as_ref(), b"\0"].concat()),
            None if answer.more => {
                let text = "no results were found, but etcd indicated there were more values remaining";
                return Err(StorageError::other(text).with_key(key));
            }
            _ => None,
        };
        self.page = Some(answer.kvs);
        Ok(())
    }
}

fn interpret(cause: KvError, from: &[u8], prefix: &str) -> StorageError {
    if cause.kind() != KvErrorKind::Compacted {
        return error::from_kv(cause, prefix);
    }
    let token = ContinueToken::encode(from, prefix, -1).ok();
    StorageError::continue_expired(token).with_key(prefix).with_source(cause)
}
