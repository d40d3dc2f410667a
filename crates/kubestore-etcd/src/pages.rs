//! Lists in parts of one revision, sized so that memory stays bounded.
//!
//! The first part is a page, which tells the revision and the count, and is all there is to most lists. The server streams
//! the rest if it can; else, or when the stream breaks, that comes as pages too.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream;
use kubestore_kv::{BoxStream, KeyValue, KvError, ListChunk, ListEnd, ListRequest, ListResponse, Revision};

use crate::{
    convert::key_value,
    error::Failure,
    kv::Shared,
    read::{Range, list_response},
    stream::RangeStream,
};

/// About how many bytes a part should have.
const TARGET_BYTES: u64 = 4 * 1024 * 1024;
/// Keys of a part at most, as upstream's largest page.
const MAX_KEYS: u64 = 10_000;

/// The parts as they come. Dropping the stream stops the reading.
pub(crate) fn list_chunks(
    shared: Arc<Shared>,
    request: ListRequest,
) -> BoxStream<Result<ListChunk, KvError>> {
    let pages = Pages::new(&shared, request);
    let parts = Parts { pages, streaming: Streaming::Untried };
    Box::pin(stream::try_unfold((shared, parts), |(shared, mut pages)| async move {
        Ok(pages.next(&shared, "list_chunks").await?.map(|chunk| (chunk, (shared, pages))))
    }))
}

/// All parts in one answer.
pub(crate) async fn list_in_parts(shared: &Shared, request: ListRequest) -> Result<ListResponse, KvError> {
    let mut pages = Pages::new(shared, request);
    let mut kvs = Vec::new();
    while let Some(mut chunk) = pages.next(shared, "list").await? {
        kvs.append(&mut chunk.kvs);
        if let Some(end) = chunk.end {
            return Ok(ListResponse::new(kvs, pages.head, end.more, end.count));
        }
    }
    Err(Failure::malformed("a list without an end").read("list", None))
}

/// A list by a page, and then by a stream as far as it goes.
struct Parts {
    pages: Pages,
    streaming: Streaming,
}

enum Streaming {
    Untried,
    On(Box<RangeStream>),
    Off,
}

impl Parts {
    async fn next(&mut self, shared: &Shared, operation: &'static str) -> Result<Option<ListChunk>, KvError> {
        if self.pages.done {
            return Ok(None);
        }
        if let (Streaming::Untried, Some(rest)) = (&self.streaming, self.pages.rest()) {
            self.streaming =
                shared.stream(rest).await.map_or(Streaming::Off, |stream| Streaming::On(Box::new(stream)));
        }
        if let Streaming::On(stream) = &mut self.streaming {
            // Parts without keys that are not the last say nothing.
            while let Some(part) = shared.part(stream).await {
                let last = part.header.is_some();
                if last || !part.kvs.is_empty() {
                    let more = if last { Some(part.more) } else { None };
                    let kvs = part.kvs.into_iter().map(key_value).collect();
                    return Ok(Some(self.pages.streamed(kvs, more)));
                }
            }
            self.streaming = Streaming::Off;
        }
        self.pages.next(shared, operation).await
    }
}

/// How far a list has come.
struct Pages {
    request: ListRequest,
    /// The rest of the range. Its revision is set by the first answer.
    rest: Range,
    /// What the limit leaves.
    left: Option<u64>,
    /// Keys of the next part.
    size: u64,
    /// Of the whole range; the first answer says it.
    count: Option<Option<i64>>,
    /// As the first answer said.
    head: Revision,
    done: bool,
}

impl Pages {
    fn new(shared: &Shared, request: ListRequest) -> Self {
        Self {
            rest: Range::of_list(&request),
            left: request.limit.map(std::num::NonZeroU64::get),
            size: shared.options.page_size.get().min(MAX_KEYS),
            count: None,
            head: Revision(0),
            done: false,
            request,
        }
    }

    /// What is left to read once the first page has told the revision.
    fn rest(&mut self) -> Option<&Range> {
        if self.done || self.count.is_none() {
            return None;
        }
        self.rest.limit = self.left.unwrap_or(0);
        Some(&self.rest)
    }

    /// Counts in a part that the server streamed; the last one says whether the limit left `more`.
    fn streamed(&mut self, kvs: Vec<KeyValue>, more: Option<bool>) -> ListChunk {
        self.left = self.left.map(|left| left.saturating_sub(kvs.len() as u64));
        if let Some(last) = kvs.last() {
            self.rest.key = after(&last.key);
        }
        match more {
            None => ListChunk::part(kvs),
            Some(more) => {
                self.done = true;
                let revision = self.rest.revision.unwrap_or(self.head);
                ListChunk::last(kvs, ListEnd::new(revision, more, self.count.flatten()))
            }
        }
    }

    async fn next(&mut self, shared: &Shared, operation: &'static str) -> Result<Option<ListChunk>, KvError> {
        if self.done {
            return Ok(None);
        }
        let page = self.page(shared, operation).await?;
        let first = self.count.is_none();
        if first {
            self.head = page.head;
            self.count = Some(page.count);
        }
        let revision = *self.rest.revision.get_or_insert(page.head);
        let returned = page.kvs.len() as u64;
        self.left = self.left.map(|left| left.saturating_sub(returned));
        if !page.more || self.left == Some(0) {
            self.done = true;
            let end = ListEnd::new(revision, page.more, self.count.flatten());
            return Ok(Some(ListChunk::last(page.kvs, end)));
        }
        if let Some(last) = page.kvs.last() {
            self.rest.key = after(&last.key);
        }
        // Half of what a message may have leaves room for values that are larger than those before.
        let target = TARGET_BYTES.min(shared.options.max_response_bytes as u64 / 2);
        self.size = fitting_size(&page.kvs, target);
        Ok(Some(ListChunk::part(page.kvs)))
    }

    /// The next part, halved until it fits into a message.
    async fn page(&mut self, shared: &Shared, operation: &'static str) -> Result<ListResponse, KvError> {
        loop {
            self.rest.limit = self.left.map_or(self.size, |left| left.min(self.size));
            let answer = shared.range(operation, &self.rest).await;
            match answer.and_then(|answer| list_response(answer, &self.rest)) {
                Ok(page) => return Ok(page),
                Err(failure) if failure.answer_too_large && self.rest.limit > 1 => {
                    self.size = self.rest.limit / 2;
                    tracing::debug!(
                        operation,
                        keys = self.size,
                        "part of a list was too large and is halved"
                    );
                }
                Err(failure) => {
                    return Err(shared
                        .explain(failure, operation, &self.request.prefix, self.rest.revision)
                        .await);
                }
            }
        }
    }
}

/// How many keys like these make a part of `target` bytes.
fn fitting_size(kvs: &[KeyValue], target: u64) -> u64 {
    let bytes: u64 = kvs.iter().map(|kv| (kv.key.len() + kv.value.len()) as u64).sum();
    let average = (bytes / (kvs.len() as u64).max(1)).max(1);
    (target / average).clamp(1, MAX_KEYS)
}

/// The first key after `key`.
fn after(key: &[u8]) -> Bytes {
    let mut next = BytesMut::with_capacity(key.len() + 1);
    next.put_slice(key);
    next.put_u8(0);
    next.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_sized_by_what_came() {
        let kv = |bytes: usize| [KeyValue::new("", vec![0; bytes], Revision(1))];
        let of = |bytes: usize| fitting_size(&kv(bytes), TARGET_BYTES);
        assert_eq!(of(1024), 4096);
        assert_eq!(of(64 * 1024 * 1024), 1);
        assert_eq!(of(0), MAX_KEYS);
        assert_eq!(fitting_size(&kv(1024), 32 * 1024), 32);
        assert_eq!(&after(b"/a")[..], b"/a\0");
    }
}
