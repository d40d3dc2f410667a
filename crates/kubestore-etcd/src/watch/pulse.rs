//! Whether the server of a quiet stream is still there.
//!
//! The connection's own probes find a member that is frozen or cut off, but not a stream that died behind something that
//! answers for it, such as a gateway. So after a quiet while the member is asked directly, and then the stream: its
//! answer to a progress request must come along it. Nothing of this is seen by the consumers.

use std::{fmt, sync::Arc};

use kubestore_kv::{BoxFuture, Revision};
use tokio::time::{Duration, Instant, sleep_until, timeout};

use crate::{error::Failure, pool::Member};

#[derive(Debug)]
pub(super) struct Pulse {
    interval: Duration,
    patience: Duration,
    state: State,
}

enum State {
    /// Something was heard at this time.
    Heard(Instant),
    /// The member is being asked.
    Asking(BoxFuture<'static, Result<Revision, Failure>>),
    /// The stream must say something until then.
    Owed(Instant),
}

/// What became due.
#[derive(Debug)]
pub(super) enum Beat {
    /// It has been quiet for the whole interval.
    Quiet,
    /// The member is there, at this revision, or it is not.
    Answered(Result<Revision, Failure>),
    /// The stream said nothing although it had to.
    Missed(Failure),
}

impl Pulse {
    /// Asks after `interval` of silence, and gives `patience` for each answer.
    pub(super) fn new(interval: Duration, patience: Duration) -> Self {
        Self { interval, patience, state: State::Heard(Instant::now()) }
    }

    /// The stream spoke, or is a new one.
    pub(super) fn heard(&mut self) {
        self.state = State::Heard(Instant::now());
    }

    /// Asks the member, on the connection of its watches.
    pub(super) fn ask(&mut self, member: &Arc<Member>) {
        let (member, patience) = (Arc::clone(member), self.patience);
        self.state = State::Asking(Box::pin(async move {
            let mut client = member.watch_maintenance.clone();
            let status =
                timeout(patience, client.status()).await.map_err(|_| Failure::silent(patience))??;
            member.learn_version(status.version());
            Ok(Revision(status.header().map_or(0, etcd_client::ResponseHeader::revision)))
        }));
    }

    /// The stream has been asked for something that it always answers.
    pub(super) fn owed(&mut self) {
        self.state = State::Owed(Instant::now() + self.patience);
    }

    /// Waits for what becomes due next. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Beat {
        match &mut self.state {
            State::Heard(at) => {
                sleep_until(*at + self.interval).await;
                Beat::Quiet
            }
            State::Asking(answer) => Beat::Answered(answer.await),
            State::Owed(until) => {
                sleep_until(*until).await;
                Beat::Missed(Failure::silent(self.patience))
            }
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Heard(_) => "Heard",
            Self::Asking(_) => "Asking",
            Self::Owed(_) => "Owed",
        })
    }
}
