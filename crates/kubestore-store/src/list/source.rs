//! Where the pages of a list come from; the next one is fetched while this one is worked on.

use std::{mem, sync::Arc};

use kubestore_core::Object;
use kubestore_kv::{GetRequest, KeyValue, KvError, KvErrorKind, ListRequest, ListResponse, Revision};

use crate::{backend::Parts, store::Inner, task::Task};

/// One page. All pages of a list are of one revision.
pub(super) struct Page {
    pub(super) kvs: Vec<KeyValue>,
    /// The backend's newest revision, or that of the list; an answer in parts says it at its end.
    pub(super) head: Option<Revision>,
    /// Another page follows.
    pub(super) more: bool,
    pub(super) count: Option<i64>,
}

impl From<ListResponse> for Page {
    fn from(answer: ListResponse) -> Self {
        Self { kvs: answer.kvs, head: Some(answer.head), more: answer.more, count: answer.count }
    }
}

/// How to ask for pages.
pub(super) enum Way {
    /// The one key.
    Key(GetRequest),
    /// A request for each page: this is the next.
    Range(ListRequest),
    /// One request whose answer comes in parts.
    Parts(Parts),
}

impl Way {
    async fn fetch<T: Object>(&mut self, inner: &Inner<T>) -> Result<Page, KvError> {
        match self {
            Self::Key(request) => {
                let answer = inner.kv_get(request.clone()).await?;
                let count = i64::from(answer.kv.is_some());
                let kvs = answer.kv.into_iter().collect();
                Ok(ListResponse::new(kvs, answer.head, false, Some(count)).into())
            }
            Self::Range(request) => inner.kv_list(request.clone()).await.map(Page::from),
            Self::Parts(parts) => {
                let part = inner.kv_next_part(parts).await?;
                let (head, more, count) = match part.end {
                    Some(end) => (Some(end.revision), end.more, end.count),
                    None => (None, true, None),
                };
                Ok(Page { kvs: part.kvs, head, more, count })
            }
        }
    }
}

/// The pages of a list.
pub(super) struct Source<T: Object> {
    inner: Arc<Inner<T>>,
    state: State,
}

enum State {
    Idle(Way),
    /// Somebody else gets the next page.
    Fetching(Task<(Way, Result<Page, KvError>)>),
    /// The way was lost with a task that did not end well.
    Lost,
}

impl<T: Object> Source<T> {
    pub(super) fn new(inner: Arc<Inner<T>>, way: Way) -> Self {
        Self { inner, state: State::Idle(way) }
    }

    /// The next page: the one that was begun ahead, if one was.
    pub(super) async fn next(&mut self) -> Result<Page, KvError> {
        match &mut self.state {
            State::Idle(way) => way.fetch(&self.inner).await,
            State::Fetching(task) => match task.await {
                Ok((way, page)) => {
                    self.state = State::Idle(way);
                    page
                }
                Err(failed) => {
                    self.state = State::Lost;
                    Err(interrupted().with_source(failed))
                }
            },
            State::Lost => Err(interrupted()),
        }
    }

    /// Where the next page begins, and how it is asked for. Parts follow each other by themselves.
    pub(super) fn go_on(&mut self, next: impl FnOnce(&mut ListRequest)) {
        if let State::Idle(Way::Range(request)) = &mut self.state {
            next(request);
        }
    }

    /// Begins to fetch the next page.
    pub(super) fn fetch_ahead(&mut self) {
        let idle = match mem::replace(&mut self.state, State::Lost) {
            State::Idle(way) => way,
            busy => {
                self.state = busy;
                return;
            }
        };
        let inner = Arc::clone(&self.inner);
        self.state = State::Fetching(Task::spawn(async move {
            let mut way = idle;
            let page = way.fetch(&inner).await;
            (way, page)
        }));
    }
}

fn interrupted() -> KvError {
    KvError::new(KvErrorKind::Internal, "list", "fetching a page was interrupted")
}
