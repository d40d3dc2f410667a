//! Ranges that the server sends in parts by itself, which etcd does from 3.7 on.
//!
//! Nothing depends on it: whoever reads a range this way knows the revision beforehand, and goes on by pages after the last
//! key that came when the server has no such call, or the stream breaks.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use etcd_client::proto::{PbRangeResponse, PbRangeStreamResponse};
use kubestore_kv::KvErrorKind;
use tokio::time::{Instant, timeout};
use tonic::Streaming;

use crate::{error::Failure, kv::Shared, pool::Member, read::Range};

/// Whether the servers have the call. Asked anew from time to time, since servers are upgraded while their clients run.
#[derive(Debug, Default)]
pub(crate) struct StreamSupport {
    missing_since: Mutex<Option<Instant>>,
}

/// After so long a server that did not have the call may have it.
const ASK_AGAIN: Duration = Duration::from_secs(600);

impl StreamSupport {
    fn is_likely(&self, now: Instant) -> bool {
        let since = *self.missing_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_none_or(|since| now.duration_since(since) >= ASK_AGAIN)
    }

    fn is_missing(&self, now: Instant) {
        *self.missing_since.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }
}

/// The parts of one range as they come.
#[derive(Debug)]
pub(crate) struct RangeStream {
    parts: Streaming<PbRangeStreamResponse>,
    member: Arc<Member>,
}

impl Shared {
    /// Begins to read `range`, whose revision is set. `None`: it has to be read by pages.
    pub(crate) async fn stream(&self, range: &Range) -> Option<RangeStream> {
        if !self.stream_support.is_likely(Instant::now()) {
            return None;
        }
        let member = Arc::clone(self.pool.current());
        let mut client = member.bulk.clone();
        let opening = client.get_stream(range.key.clone(), Some(range.options()));
        let limit = self.options.request_timeout;
        let opened = timeout(limit, opening).await.map_err(|_| Failure::deadline(limit));
        match opened.and_then(|opened| opened.map_err(Failure::from)) {
            Ok(stream) => Some(RangeStream { parts: stream.stream, member }),
            Err(failure) => {
                self.left_to_pages(&member, &failure);
                None
            }
        }
    }

    /// The next part; the last one has a header. `None`: the rest has to be read by pages.
    pub(crate) async fn part(&self, stream: &mut RangeStream) -> Option<PbRangeResponse> {
        let limit = self.options.request_timeout;
        let failure = match timeout(limit, stream.parts.message()).await {
            Ok(Ok(Some(PbRangeStreamResponse { range_response: Some(part) }))) => return Some(part),
            Ok(Ok(Some(_))) => Failure::malformed("a part without content"),
            Ok(Ok(None)) => Failure::malformed("a range without its last part"),
            Ok(Err(status)) => Failure::from(status),
            Err(_) => Failure::deadline(limit),
        };
        self.left_to_pages(&stream.member, &failure);
        None
    }

    fn left_to_pages(&self, member: &Arc<Member>, failure: &Failure) {
        if failure.kind == KvErrorKind::Unsupported {
            self.stream_support.is_missing(Instant::now());
        }
        if failure.is_unreachable() {
            self.pool.leave(member, failure);
        }
        tracing::debug!(endpoint = member.url, %failure, "range is not streamed, and read by pages");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_the_call_is_asked_again_after_ten_minutes() {
        let (support, begin) = (StreamSupport::default(), Instant::now());
        assert!(support.is_likely(begin));
        support.is_missing(begin);
        assert!(!support.is_likely(begin));
        assert!(!support.is_likely(begin + ASK_AGAIN - Duration::from_secs(1)));
        assert!(support.is_likely(begin + ASK_AGAIN));
    }
}
