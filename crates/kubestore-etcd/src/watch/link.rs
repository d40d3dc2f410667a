//! The server stream of a group: being opened, open, broken.

use std::{fmt, future::pending, sync::Arc};

use etcd_client::{WatchOptions, WatchRequestSender, WatchResponse, WatchResponseStream, WatchStream};
use kubestore_kv::BoxFuture;
use tokio::time::{Duration, Instant, sleep_until, timeout};

use crate::{error::Failure, pool::Member};

pub(super) enum Link {
    /// Nothing to be watched.
    Idle,
    /// Broken; tried again at this time.
    Waiting(Instant),
    Opening {
        member: Arc<Member>,
        opening: BoxFuture<'static, Result<WatchStream, Failure>>,
    },
    Open {
        member: Arc<Member>,
        since: Instant,
        requests: WatchRequestSender,
        responses: Box<WatchResponseStream>,
    },
}

/// What came of the link.
#[derive(Debug)]
pub(super) enum Happened {
    TimeToTry,
    Opened(WatchStream),
    /// It takes another request.
    Writable,
    Response(WatchResponse),
    Broke(Failure),
}

impl Link {
    /// Opens a stream on `member` with the creation of its first watch. The server answers only then.
    pub(super) fn open(member: Arc<Member>, key: Vec<u8>, options: WatchOptions, limit: Duration) -> Self {
        let mut client = member.watch.clone();
        let opening = Box::pin(async move {
            match timeout(limit, client.watch(key, Some(options))).await {
                Ok(Ok(stream)) => Ok(stream),
                Ok(Err(error)) => Err(error.into()),
                Err(_) => Err(Failure::deadline(limit)),
            }
        });
        Self::Opening { member, opening }
    }

    /// Waits for the next thing to happen. Dropping the future loses nothing.
    pub(super) async fn next(&mut self, read: bool, write: bool) -> Happened {
        match self {
            Self::Idle => pending().await,
            Self::Waiting(until) => {
                sleep_until(*until).await;
                Happened::TimeToTry
            }
            Self::Opening { opening, .. } => match opening.await {
                Ok(stream) => Happened::Opened(stream),
                Err(failure) => Happened::Broke(failure),
            },
            Self::Open { requests, responses, .. } => {
                tokio::select! {
                    response = responses.message(), if read => match response {
                        Ok(Some(response)) => Happened::Response(response),
                        Ok(None) => Happened::Broke(Failure::closed()),
                        Err(error) => Happened::Broke(error.into()),
                    },
                    // A closed channel is reported by the responses.
                    _ = requests.0.reserve(), if write => Happened::Writable,
                    () = pending(), if !read && !write => Happened::TimeToTry,
                }
            }
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. })
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "Idle",
            Self::Waiting(_) => "Waiting",
            Self::Opening { .. } => "Opening",
            Self::Open { .. } => "Open",
        })
    }
}
