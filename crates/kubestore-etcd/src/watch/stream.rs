//! The consumer's end of a watch.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use kubestore_kv::{KvError, WatchItem};
use tokio::sync::mpsc::UnboundedSender;

use super::{hub::Command, mailbox::Mailbox};

/// Dropping it cancels the watch on the server.
pub(super) struct WatchStream {
    id: u64,
    mailbox: Arc<Mailbox>,
    hub: UnboundedSender<Command>,
}

impl WatchStream {
    pub(super) fn new(id: u64, mailbox: Arc<Mailbox>, hub: UnboundedSender<Command>) -> Self {
        Self { id, mailbox, hub }
    }
}

impl Stream for WatchStream {
    type Item = Result<WatchItem, KvError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some((item, tell)) = ready!(self.mailbox.poll_take(cx)) else { return Poll::Ready(None) };
        if tell {
            let _sent = self.hub.send(Command::Room(self.id));
        }
        Poll::Ready(Some(item))
    }
}

impl Drop for WatchStream {
    fn drop(&mut self) {
        // A watch that ended is forgotten already, and a hub that is gone has forgotten all.
        let _sent = self.hub.send(Command::Cancel(self.id));
    }
}

impl fmt::Debug for WatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchStream").field("id", &self.id).finish_non_exhaustive()
    }
}
