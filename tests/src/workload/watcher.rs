//! Clients that watch.

use std::{fmt, time::Duration};

use futures_util::StreamExt as _;
use kubestore_conformance::history::HistoryKv;
use kubestore_kv::{
    GetRequest, Kv as _, KvErrorKind, KvWatch, Revision, WatchGroup, WatchItem, WatchRequest, WatchTarget,
};

use super::{KEPT, MARKER, PREFIX};

/// A watch that has told all and is still open.
pub(super) struct Followed {
    _watch: KvWatch,
    /// How often it was begun anew.
    pub(super) reopened: usize,
}

impl fmt::Debug for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Followed").field("reopened", &self.reopened).finish_non_exhaustive()
    }
}

/// Before a watch is begun anew.
const PAUSE: Duration = Duration::from_millis(50);

/// Watches everything until the end, going on where it was whenever a watch ends by an error. The first watcher begins at the
/// beginning, the others with what comes; the second does without previous values, the third takes its time to look.
pub(super) async fn follow(kv: HistoryKv, number: usize, first: Revision) -> Followed {
    let group = WatchGroup::new();
    let mut start = (number == 0).then_some(first);
    let mut reopened = 0;
    loop {
        let target = WatchTarget::Prefix(PREFIX.into());
        let mut request = WatchRequest::new(group, target);
        request.start = start;
        request.previous = number != 1;
        let end = match kv.watch(request).await {
            Ok(watch) => {
                if number == 2 {
                    tokio::time::sleep(PAUSE).await;
                }
                match read(watch, &kv, group, &mut start).await {
                    Ok(watch) => return Followed { _watch: watch, reopened },
                    Err(end) => end,
                }
            }
            Err(error) => Some(error.kind()),
        };
        if end == Some(KvErrorKind::Compacted) {
            // Too slow, or frozen too long. Begins after the last that is kept.
            start =
                kv.get(GetRequest::new(PREFIX)).await.ok().map(|answer| Revision(answer.head.0 - KEPT / 2));
        }
        // One that was not there from the start must not miss the marker.
        start = start.or(Some(first));
        reopened += 1;
        tokio::time::sleep(PAUSE).await;
    }
}

/// The watch once it has told the marker, or how it ended before.
async fn read(
    mut watch: KvWatch,
    kv: &HistoryKv,
    group: WatchGroup,
    start: &mut Option<Revision>,
) -> Result<KvWatch, Option<KvErrorKind>> {
    let mut items = 0_usize;
    while let Some(item) = watch.next().await {
        match item {
            Ok(WatchItem::Events { events, through }) => {
                *start = Some(through.next());
                if events.iter().any(|event| *event.kv.key == *MARKER.as_bytes()) {
                    return Ok(watch);
                }
                items += 1;
                if items.is_multiple_of(8) {
                    // Refused while there is no leader; the next will do.
                    let _asked = kv.request_progress(group).await;
                }
            }
            Ok(WatchItem::Progress(revision)) => *start = Some(revision.next()),
            Ok(_) => {}
            Err(error) => return Err(Some(error.kind())),
        }
    }
    Err(None)
}
