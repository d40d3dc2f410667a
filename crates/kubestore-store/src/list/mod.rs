//! Lists: in one piece and in parts.

mod batch;
mod pager;
mod revision;
mod source;

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use kubestore_core::{BoxStream, List, ListOptions, ListPart, Object, Result, Scope, StorageError};
use tracing::Instrument as _;

use crate::{
    operation::{Operation, operation},
    store::Inner,
};
use pager::Pager;

pub(crate) async fn get_list<T: Object>(
    inner: &Arc<Inner<T>>,
    key: &str,
    options: ListOptions,
) -> Result<List<T>> {
    let mut trace = trace_of(inner, key, &options);
    let span = trace.span();
    let list = async {
        let mut pager = Pager::new(inner, key, options)?;
        let mut items = Vec::new();
        loop {
            match pager.next_page(&mut trace).await {
                Ok(Some(page)) if items.is_empty() => items = page,
                Ok(Some(page)) => items.extend(page),
                Ok(None) => break,
                Err(error) if pager.was_overtaken(&error) => {
                    items.clear();
                    pager.begin_in_one_piece();
                }
                Err(error) => return Err(error),
            }
        }
        let end = pager.end()?;
        Ok(List::new(items, end.resource_version).continued(end.continue_token, end.remaining_item_count))
    };
    let list: Result<List<T>> = list.instrument(span).await;
    list.map_err(|error| error.with_operation("list"))
}

pub(crate) fn list_stream<T: Object>(
    inner: &Arc<Inner<T>>,
    key: &str,
    options: ListOptions,
) -> BoxStream<Result<ListPart<T>>> {
    let trace = trace_of(inner, key, &options);
    let pager = Pager::in_parts(inner, key, options);
    let state = match pager {
        Ok(pager) => Streaming::Pages(Box::new((pager, trace))),
        Err(error) => Streaming::Failed(error),
    };
    stream::unfold(state, |state| async move {
        let (part, next) = state.next().await?;
        Some((part.map_err(|error| error.with_operation("list")), next))
    })
    .boxed()
}

fn trace_of<T: Object>(inner: &Arc<Inner<T>>, key: &str, options: &ListOptions) -> Operation {
    operation!(
        inner,
        "list",
        key,
        recursive = options.scope == Scope::Recursive,
        resource_version = %options.resource_version,
        resource_version_match = options.resource_version_match.as_str(),
        limit = options.limit,
        continue_token = %options.continue_token,
        selector = !options.predicate.is_empty()
    )
}

/// Where a list in parts is.
enum Streaming<T: Object> {
    Pages(Box<(Pager<T>, Operation)>),
    Failed(StorageError),
    Ended,
}

impl<T: Object> Streaming<T> {
    async fn next(self) -> Option<(Result<ListPart<T>>, Self)> {
        let mut pages = match self {
            Self::Pages(pages) => pages,
            Self::Failed(error) => return Some((Err(error), Self::Ended)),
            Self::Ended => return None,
        };
        let (pager, trace) = &mut *pages;
        let span = trace.span();
        loop {
            match pager.next_page(trace).instrument(span.clone()).await {
                Ok(Some(page)) if page.is_empty() => {}
                Ok(Some(page)) => return Some((Ok(ListPart::Items(page)), Self::Pages(pages))),
                Ok(None) => return Some((pager.end().map(pager::End::into_part), Self::Ended)),
                Err(error) => return Some((Err(error), Self::Ended)),
            }
        }
    }
}
