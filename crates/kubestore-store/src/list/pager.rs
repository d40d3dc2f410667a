//! A list, page by page: the one place where its rules are.

use std::{mem, sync::Arc, time::Instant};

use kubestore_core::{
    ContinueToken, CorruptObjects, ErrorKind, ListOptions, ListPart, Object, Result, Scope, StorageError,
};
use kubestore_kv::{GetRequest, KeyValue, KvError, KvErrorKind, ListRequest, Revision};
use kubestore_metrics::Event;

use super::{
    batch::Batches,
    revision::wanted_revision,
    source::{Source, Way},
};
use crate::{
    error, operation::Operation, read::check_not_older, selection::Selection, store::Inner,
    value::resource_version,
};

/// Pages grow up to this when selectors drop objects; a larger limit of the caller's is left as it is.
const MAX_PAGE: u64 = 10_000;

/// Pages of a list in parts that has no limit of its own and does not come in parts from the backend.
const PART: u64 = 500;

/// A list under way.
pub(super) struct Pager<T: Object> {
    inner: Arc<Inner<T>>,
    options: ListOptions,
    selection: Arc<Selection>,
    source: Source<T>,
    /// The range: everything under it, or with [`Scope::Single`] the one key.
    prefix: String,
    /// The first key, where a continue token begins.
    first_key: Vec<u8>,
    /// What the caller asked for; `None` is the newest.
    wanted: Option<Revision>,
    /// The revision of all pages, known after the first or, of parts, after the last.
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
    /// The errors of the objects that it went past.
    corrupt: Vec<StorageError>,
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
    pub(super) fn in_parts(inner: &Arc<Inner<T>>, key: &str, options: ListOptions) -> Result<Self> {
        let mut pager = Self::new(inner, key, options)?;
        if pager.bucket().is_none() {
            pager.page_size = PART;
            pager.source.go_on(|request| *request = request.clone().limit(PART));
        }
        Ok(pager)
    }

    pub(super) fn new(inner: &Arc<Inner<T>>, key: &str, options: ListOptions) -> Result<Self> {
        let recursive = options.scope == Scope::Recursive;
        let prefix =
            if recursive { inner.prefix.prepare_recursive(key)? } else { inner.prefix.prepare(key)? };
        let token = if recursive && !options.continue_token.is_empty() {
            Some(ContinueToken::decode(&options.continue_token, &prefix)?)
        } else {
            None
        };
        let wanted = wanted_revision(&options, token.as_ref().map(|token| token.revision))?;
        let first_key = token.map_or_else(|| prefix.clone(), |token| token.start_key).into_bytes();
        let deadline = options.timeout.map(|timeout| Instant::now() + timeout);
        let mut pager = Self {
            selection: Arc::new(
                Selection::new(options.predicate.clone(), deadline).on_corrupt(options.corrupt_objects),
            ),
            page_size: u64::try_from(options.limit).unwrap_or(0),
            source: Source::new(Arc::clone(inner), Way::Key(GetRequest::new(prefix.clone()))),
            inner: Arc::clone(inner),
            options,
            prefix,
            first_key,
            wanted,
            revision: wanted,
            returned: 0,
            fetched: 0,
            evaluated: 0,
            last_key: Vec::new(),
            count: None,
            has_more: false,
            ended: false,
            corrupt: Vec::new(),
        };
        pager.source = Source::new(Arc::clone(inner), pager.way());
        Ok(pager)
    }

    fn way(&self) -> Way {
        if self.options.scope == Scope::Single {
            let mut request = GetRequest::new(self.prefix.clone());
            request.revision = self.wanted;
            return Way::Key(request);
        }
        // Parts tell their revision at their end, which is too late to see that the state is older than asked for.
        let minimum = !matches!(self.options.resource_version.as_str(), "" | "0");
        if self.bucket().is_none() && (self.wanted.is_some() || !minimum) {
            return Way::Parts(self.inner.kv_parts(self.request()));
        }
        Way::Range(self.request())
    }

    fn request(&self) -> ListRequest {
        let mut request = ListRequest::new(self.prefix.clone()).limit(self.page_size);
        request.start = Some(self.first_key.clone().into());
        request.revision = self.wanted;
        request
    }

    /// Whether a list of the newest state, which was read in parts, failed because that state was compacted meanwhile.
    /// Nobody has seen anything of it who could not begin anew.
    pub(super) fn was_overtaken(&self, error: &StorageError) -> bool {
        self.wanted.is_none()
            && self.revision.is_none()
            && self.fetched > 0
            && error.kind() == ErrorKind::Expired
    }

    /// Begins anew, with one request for everything: nothing can come in between.
    pub(super) fn begin_in_one_piece(&mut self) {
        tracing::debug!(key = self.prefix, "a list was overtaken by a compaction and begins anew");
        self.source = Source::new(Arc::clone(&self.inner), Way::Range(self.request()));
        (self.returned, self.fetched, self.evaluated) = (0, 0, 0);
        self.corrupt.clear();
    }

    /// The next objects, perhaps none of a page; `None` when the list is complete or full.
    ///
    /// # Errors
    /// After objects that could not be read and were gone past, these come with whatever ends the list.
    pub(super) async fn next_page(&mut self, trace: &mut Operation) -> Result<Option<Vec<T>>> {
        match self.read_page(trace).await {
            Err(error) if !self.corrupt.is_empty() && !self.was_overtaken(&error) => {
                Err(self.report(Some(error)))
            }
            Ok(Some(_)) if self.corrupt.len() > CorruptObjects::MOST => Err(self.report(None)),
            other => other,
        }
    }

    /// The error that names the objects which could not be read.
    fn report(&mut self, ended_by: Option<StorageError>) -> StorageError {
        let truncated = self.corrupt.len() > CorruptObjects::MOST;
        let mut errors = mem::take(&mut self.corrupt);
        errors.truncate(CorruptObjects::MOST);
        StorageError::of_corrupt_objects(errors, truncated, ended_by, &self.inner.resource)
            .with_key(self.prefix.as_str())
    }

    async fn read_page(&mut self, trace: &mut Operation) -> Result<Option<Vec<T>>> {
        if self.ended {
            return Ok(None);
        }
        let page = match self.source.next().await {
            Ok(page) => page,
            Err(cause) => return Err(self.interpret(cause).await),
        };
        trace.step("page read", page.kvs.len());
        self.fetched += page.kvs.len() as u64;
        if let Some(head) = page.head {
            check_not_older(&self.options.resource_version, head)?;
            if page.kvs.is_empty() && page.more {
                let text = "no results were found, but etcd indicated there were more values remaining";
                return Err(StorageError::other(text).with_key(self.prefix.as_str()));
            }
            self.revision.get_or_insert(head);
        }
        self.count = page.count;
        self.has_more = page.more;
        if page.more {
            self.prepare_next(&page.kvs);
        }
        let items = self.take(page.kvs).await?;
        trace.step("page decoded", items.len());
        self.returned += items.len();
        self.ended = !self.has_more || self.is_full();
        Ok(Some(items))
    }

    fn is_full(&self) -> bool {
        self.bucket().is_some_and(|bucket| self.returned >= bucket)
    }

    /// How many objects the caller wants.
    fn bucket(&self) -> Option<usize> {
        usize::try_from(self.options.limit).ok().filter(|limit| *limit > 0)
    }

    /// Sets out the page after `kvs`, and begins to fetch it if it will be wanted.
    fn prepare_next(&mut self, kvs: &[KeyValue]) {
        if self.bucket().is_some() && self.page_size < MAX_PAGE {
            self.page_size = (self.page_size * 2).min(MAX_PAGE);
        }
        if let Some(last) = kvs.last() {
            let (size, revision) = (self.page_size, self.revision);
            self.source.go_on(|request| {
                *request = request.clone().from_key([&last.key, &b"\0"[..]].concat()).limit(size);
                request.revision = revision;
            });
        }
        if self.will_go_on(kvs.len() as u64) {
            self.source.fetch_ahead();
        }
    }

    /// Whether another page will be wanted after one of `length`, to judge by the pages before: a page that nobody looks at
    /// would be a burden on the backend.
    fn will_go_on(&self, length: u64) -> bool {
        let Some(bucket) = self.bucket() else { return true };
        let returned = self.returned as u64;
        let expected = (returned * length).checked_div(self.evaluated).map(|matches| returned + 2 * matches);
        expected.is_some_and(|expected| expected < bucket as u64)
    }

    async fn interpret(&mut self, cause: KvError) -> StorageError {
        match (cause.kind(), self.wanted) {
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
        let length = kvs.len();
        let room = self.bucket().map_or(usize::MAX, |bucket| bucket.saturating_sub(self.returned));
        let mut items = Vec::with_capacity(if self.selection.is_everything() { length.min(room) } else { 0 });
        let mut batches = Batches::new(Arc::clone(&self.inner), Arc::clone(&self.selection), kvs);
        let mut position = 0_usize;
        while let Some(batch) = batches.next().await {
            let begun = position;
            for object in batch.objects {
                if items.len() >= room {
                    break;
                }
                position += 1;
                items.extend(object);
            }
            self.evaluated += (position - begun) as u64;
            let seen = batch.corrupt.into_iter().take_while(|(place, _)| begun + place < position);
            self.corrupt.extend(seen.map(|(_, error)| error));
            if self.corrupt.len() > CorruptObjects::MOST {
                break;
            }
            if let Some(last) = (position - begun).checked_sub(1).and_then(|last| batch.keys.get(last)) {
                self.last_key.clear();
                self.last_key.extend_from_slice(last);
            }
            if items.len() >= room && position < length {
                self.has_more = true;
                break;
            }
            if let Some(error) = batch.error {
                self.returned += items.len();
                return Err(error);
            }
        }
        Ok(items)
    }

    /// What is known once [`next_page`](Self::next_page) gave `None`.
    pub(super) fn end(&mut self) -> Result<End> {
        if !self.corrupt.is_empty() {
            return Err(self.report(None));
        }
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
