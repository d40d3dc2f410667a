//! A list, page by page: the one place where its rules are.

use std::{sync::Arc, time::Instant};

use kubestore_core::{ContinueToken, ListOptions, ListPart, Object, Result, Scope, StorageError};
use kubestore_kv::{GetRequest, KeyValue, KvError, KvErrorKind, ListRequest, ListResponse, Revision};
use kubestore_metrics::Event;

use super::{
    batch::{Batches, Selection},
    revision::wanted_revision,
};
use crate::{error, operation::Operation, read::check_not_older, store::Inner, value::resource_version};

/// Pages grow up to this when selectors drop objects; a larger limit of the caller's is left as it is.
const MAX_PAGE: u64 = 10_000;

/// Pages of a list in parts that has no limit of its own.
const PART: u64 = 500;

/// A list under way.
pub(super) struct Pager<T: Object> {
    inner: Arc<Inner<T>>,
    options: ListOptions,
    selection: Arc<Selection>,
    /// The range: everything under it, or with [`Scope::Single`] the one key.
    prefix: String,
    next_key: Vec<u8>,
    /// The revision of all pages, known after the first at the latest.
    revision: Option<Revision>,
    /// How many to ask of the backend; 0 is all.
    page_size: u64,
    returned: usize,
    fetched: u64,
    evaluated: u64,
    last_key: Vec<u8>,
    count: Option<i64>,
    has_more: bool,
    ended: bool,
}

/// What is known at the end of a list.
pub(super) struct End {
    pub(super) resource_version: u64,
    pub(super) continue_token: Option<String>,
    pub(super) remaining_item_count: Option<i64>,
}

impl End {
    pub(super) fn into_part<T>(self) -> ListPart<T> {
        ListPart::End {
            resource_version: self.resource_version,
            continue_token: self.continue_token,
            remaining_item_count: self.remaining_item_count,
        }
    }
}

impl<T: Object> Pager<T> {
    /// A list that is handed out page by page: without a limit of the caller's it is read in pages all the same.
    pub(super) fn in_parts(inner: Arc<Inner<T>>, key: &str, options: ListOptions) -> Result<Self> {
        let mut pager = Self::new(inner, key, options)?;
        if pager.bucket().is_none() {
            pager.page_size = PART;
        }
        Ok(pager)
    }

    pub(super) fn new(inner: Arc<Inner<T>>, key: &str, options: ListOptions) -> Result<Self> {
        let recursive = options.scope == Scope::Recursive;
        let prefix =
            if recursive { inner.prefix.prepare_recursive(key)? } else { inner.prefix.prepare(key)? };
        let token = if recursive && !options.continue_token.is_empty() {
            Some(ContinueToken::decode(&options.continue_token, &prefix)?)
        } else {
            None
        };
        let revision = wanted_revision(&options, token.as_ref().map(|token| token.revision))?;
        let next_key = token.map_or_else(|| prefix.clone(), |token| token.start_key).into_bytes();
        let deadline = options.timeout.map(|timeout| Instant::now() + timeout);
        Ok(Self {
            selection: Arc::new(Selection::new(options.predicate.clone(), deadline)),
            page_size: u64::try_from(options.limit).unwrap_or(0),
            inner,
            options,
            prefix,
            next_key,
            revision,
            returned: 0,
            fetched: 0,
            evaluated: 0,
            last_key: Vec::new(),
            count: None,
            has_more: false,
            ended: false,
        })
    }

    /// The next objects, perhaps none of a page; `None` when the list is complete or full.
    pub(super) async fn next_page(&mut self, trace: &mut Operation) -> Result<Option<Vec<T>>> {
        if self.ended {
            return Ok(None);
        }
        let answer = self.fetch().await?;
        trace.step("page read", answer.kvs.len());
        self.fetched += answer.kvs.len() as u64;
        check_not_older(&self.options.resource_version, answer.head)?;
        if answer.kvs.is_empty() && answer.more {
            let text = "no results were found, but etcd indicated there were more values remaining";
            return Err(StorageError::other(text).with_key(self.prefix.as_str()));
        }
        self.revision.get_or_insert(answer.head);
        self.count = answer.count;
        self.has_more = answer.more;
        let items = self.take(answer.kvs).await?;
        trace.step("page decoded", items.len());
        self.returned += items.len();
        if !self.has_more || self.is_full() {
            self.ended = true;
        } else {
            self.grow();
        }
        Ok(Some(items))
    }

    fn is_full(&self) -> bool {
        self.bucket().is_some_and(|bucket| self.returned >= bucket)
    }

    /// How many objects the caller wants.
    fn bucket(&self) -> Option<usize> {
        usize::try_from(self.options.limit).ok().filter(|limit| *limit > 0)
    }

    fn grow(&mut self) {
        if self.bucket().is_some() && self.page_size < MAX_PAGE {
            self.page_size = (self.page_size * 2).min(MAX_PAGE);
        }
        self.next_key.clone_from(&self.last_key);
        self.next_key.push(0);
    }

    async fn fetch(&self) -> Result<ListResponse> {
        let answer = if self.options.scope == Scope::Recursive {
            let mut request = ListRequest::new(self.prefix.clone()).limit(self.page_size);
            request.start = Some(self.next_key.clone().into());
            request.revision = self.revision;
            self.inner.kv_list(request).await
        } else {
            let mut request = GetRequest::new(self.prefix.clone());
            request.revision = self.revision;
            self.inner.kv_get(request).await.map(|answer| {
                let count = i64::from(answer.kv.is_some());
                ListResponse::new(answer.kv.into_iter().collect(), answer.head, false, Some(count))
            })
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(cause) => Err(self.interpret(cause).await),
        }
    }

    async fn interpret(&self, cause: KvError) -> StorageError {
        match (cause.kind(), self.revision) {
            (KvErrorKind::Compacted, _) => self.expired().with_key(self.prefix.as_str()).with_source(cause),
            (KvErrorKind::FutureRevision, Some(requested)) => {
                let current = match cause.revision() {
                    Some(head) => head,
                    None => self.inner.kv.status().await.map_or(Revision(0), |status| status.head),
                };
                error::future_revision(cause, requested, current).with_key(self.prefix.as_str())
            }
            _ => error::from_kv(cause, &self.prefix),
        }
    }

    /// A paged list may go on at a newer state; with a token of the newest state it is the caller's choice.
    fn expired(&self) -> StorageError {
        if self.options.continue_token.is_empty() {
            return StorageError::list_expired();
        }
        let first_key = if self.options.scope == Scope::Recursive {
            ContinueToken::decode(&self.options.continue_token, &self.prefix).map(|token| token.start_key)
        } else {
            Ok(String::new())
        };
        let token = first_key.and_then(|key| ContinueToken::encode(key.as_bytes(), &self.prefix, -1));
        StorageError::continue_expired(token.ok())
    }

    /// The wanted objects of a page, until the caller's limit is reached.
    async fn take(&mut self, kvs: Vec<KeyValue>) -> Result<Vec<T>> {
        let keys: Vec<_> = kvs.iter().map(|kv| kv.key.clone()).collect();
        let room = self.bucket().map_or(usize::MAX, |bucket| bucket.saturating_sub(self.returned));
        let mut items =
            Vec::with_capacity(if self.selection.is_everything() { kvs.len().min(room) } else { 0 });
        let mut batches = Batches::new(Arc::clone(&self.inner), Arc::clone(&self.selection), kvs);
        let mut position = 0;
        while let Some(batch) = batches.next().await {
            for object in batch.objects {
                if items.len() >= room {
                    break;
                }
                self.evaluated += 1;
                position += 1;
                items.extend(object);
            }
            if items.len() >= room && position < keys.len() {
                self.has_more = true;
                break;
            }
            if let Some(error) = batch.error {
                self.returned += items.len();
                return Err(error);
            }
        }
        if let Some(last) = position.checked_sub(1).and_then(|last| keys.get(last)) {
            self.last_key.clear();
            self.last_key.extend_from_slice(last);
        }
        Ok(items)
    }

    /// What is known once [`next_page`](Self::next_page) gave `None`.
    pub(super) fn end(&self) -> Result<End> {
        let revision = self.revision.unwrap_or_default();
        if revision.0 == 0 {
            let text = "illegal resource version from storage: 0";
            return Err(StorageError::other(text).with_key(self.prefix.as_str()));
        }
        let mut end = End {
            resource_version: resource_version(revision),
            continue_token: None,
            remaining_item_count: None,
        };
        if self.has_more {
            let next_key = [self.last_key.as_slice(), b"\0"].concat();
            let token = ContinueToken::encode(&next_key, &self.prefix, revision.0);
            end.continue_token = Some(token.map_err(|cause| StorageError::other(cause.to_string()))?);
            if self.selection.is_everything() {
                end.remaining_item_count = self.count.map(|count| count - self.options.limit);
            }
        }
        Ok(end)
    }
}

/// Counted however the list ends.
impl<T: Object> Drop for Pager<T> {
    fn drop(&mut self) {
        self.inner.recorder.record(Event::List {
            resource: self.inner.labels(),
            fetched: self.fetched,
            evaluated: self.evaluated,
            returned: self.returned as u64,
        });
    }
}
