//! Watches: what exists, then what happens.

mod ahead;
mod decode;
mod initial;
mod stream;

use std::sync::{Arc, atomic::Ordering};

use futures_util::{StreamExt as _, stream as streams};
use kubestore_core::{
    ErrorKind, Object, Result, Scope, StorageError, WatchOptions, WatchStream, parse_resource_version,
};
use kubestore_kv::{Kv as _, KvError, KvErrorKind, Revision, WatchRequest, WatchTarget};
use tracing::Instrument as _;

use crate::{error, operation::operation, selection::Selection, store::Inner};
use ahead::Ahead;
use initial::Initial;
use stream::Watch;

/// Where a watch begins.
struct Plan {
    /// What happened after this is told; with initial events, not known yet if 0.
    after: Revision,
    /// Tell what exists first.
    initial_events: bool,
    /// Mark the end of that with a bookmark.
    end_bookmark: bool,
}

pub(crate) async fn watch<T: Object>(
    inner: &Arc<Inner<T>>,
    key: &str,
    options: WatchOptions,
) -> Result<WatchStream<T>> {
    let trace = operation!(
        inner,
        "watch",
        key,
        recursive = options.scope == Scope::Recursive,
        resource_version = %options.resource_version,
        progress_notify = options.progress_notify,
        selector = !options.predicate.is_empty()
    );
    let span = trace.span();
    let recursive = options.scope == Scope::Recursive;
    let opened = async {
        let prepared =
            if recursive { inner.prefix.prepare_recursive(key)? } else { inner.prefix.prepare(key)? };
        let version = parse_resource_version(&options.resource_version);
        let version = version.map_err(|error| StorageError::invalid_resource_version(&error))?;
        let plan = inner.plan(version, &options).await?;
        // From here on a failure is the stream's first and last item, as in the reference.
        match open(inner, &prepared, plan, options).await {
            Ok(watch) => Ok(watch.into_stream()),
            Err(error) => {
                let error = error.into_watch_error().with_operation("watch");
                Ok(streams::once(async { Err(error) }).boxed())
            }
        }
    };
    let opened: Result<WatchStream<T>> = opened.instrument(span).await;
    opened.map_err(|error| error.with_operation("watch"))
}

async fn open<T: Object>(
    inner: &Arc<Inner<T>>,
    key: &str,
    plan: Plan,
    options: WatchOptions,
) -> Result<Watch<T>> {
    let recursive = options.scope == Scope::Recursive;
    let selection = Arc::new(Selection::new(options.predicate, None));
    if plan.initial_events && plan.after.0 > 0 {
        inner.check_happened(plan.after).await?;
    }
    if plan.after.0 == i64::MAX {
        // There is no revision after it. The reference asks for the one after all, and gets this answer.
        return Err(StorageError::watch_expired().with_key(key));
    }
    let initial = if plan.initial_events { Some(Initial::read(inner, key, recursive).await?) } else { None };
    let after = initial.as_ref().map_or(plan.after, |initial| initial.revision);
    let target = if recursive {
        WatchTarget::Prefix(key.to_owned().into())
    } else {
        WatchTarget::Key(key.to_owned().into())
    };
    let request = WatchRequest::new(inner.watch_group, target)
        .from(after.next())
        .with_previous()
        .with_progress_notify(options.progress_notify);
    let changes = inner.kv.watch(request).await.map_err(|cause| interpret(cause, key))?;
    let end_bookmark = plan.end_bookmark.then_some(after);
    Ok(Watch::new(Ahead::new(Arc::clone(inner), selection), key, initial, end_bookmark, changes))
}

impl<T: Object> Inner<T> {
    async fn plan(&self, version: u64, options: &WatchOptions) -> Result<Plan> {
        let asked = options.send_initial_events;
        let wanted = self.watch_list && asked == Some(true);
        let revision = version.cast_signed();
        let after = if revision > 0 {
            Revision(revision)
        } else if self.watch_list && asked == Some(false) {
            Revision(self.current_resource_version().await?.cast_signed())
        } else {
            Revision(0)
        };
        Ok(Plan {
            after,
            initial_events: wanted || asked.is_none() && revision == 0,
            end_bookmark: wanted && options.allow_bookmarks,
        })
    }

    async fn check_happened(&self, revision: Revision) -> Result<()> {
        let requested = revision.0.unsigned_abs();
        let current = self.current_resource_version().await?;
        if requested > current {
            return Err(StorageError::too_large_resource_version(requested, current, 1));
        }
        Ok(())
    }

    pub(crate) async fn request_watch_progress(&self) -> Result<()> {
        const OPERATION: &str = "request_watch_progress";
        let failed = |cause| error::from_kv(cause, self.prefix.as_str()).with_operation(OPERATION);
        if !self.answers_progress.load(Ordering::Relaxed) {
            if !self.kv.status().await.map_err(failed)?.progress_requests {
                let text = "the backend does not answer progress requests reliably; etcd does from 3.4.31 and 3.5.13, \
                            on every endpoint";
                return Err(StorageError::new(ErrorKind::Unsupported)
                    .with_message(text)
                    .with_operation(OPERATION));
            }
            self.answers_progress.store(true, Ordering::Relaxed);
        }
        self.kv.request_progress(self.watch_group).await.map_err(failed)
    }
}

/// A fault of the backend's watch of `key`.
fn interpret(cause: KvError, key: &str) -> StorageError {
    match cause.kind() {
        KvErrorKind::Compacted => StorageError::watch_expired().with_key(key).with_source(cause),
        _ => error::from_kv(cause, key),
    }
}
