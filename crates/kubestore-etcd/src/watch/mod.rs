//! Watches: those of one group share one stream of the server.
//!
//! A task per group, the [`Hub`], owns the stream and hands what it reads to the mailbox of each watch. It begins with
//! the first watch of the group and ends with the last.

mod hub;
mod link;
mod mailbox;
mod pulse;
mod recover;
mod stream;
mod watcher;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use kubestore_kv::{KvError, KvWatch, WatchGroup, WatchRequest};
use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
    time::timeout,
};

use self::{
    hub::{Command, Hub},
    mailbox::Mailbox,
    stream::WatchStream,
    watcher::Watcher,
};
use crate::{error::Failure, kv::Shared};

const WATCH: &str = "watch";

/// The groups that have watches, and how to reach the hub of each.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    hubs: Mutex<HashMap<WatchGroup, UnboundedSender<Command>>>,
    next_watch: AtomicU64,
}

impl Groups {
    /// Gives `command` to the group's hub; where there is none, `start` makes one.
    fn send(
        &self,
        group: WatchGroup,
        command: Command,
        start: impl FnOnce(UnboundedReceiver<Command>),
    ) -> UnboundedSender<Command> {
        let mut hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        let command = match hubs.get(&group) {
            None => command,
            Some(hub) => match hub.send(command) {
                Ok(()) => return hub.clone(),
                // Its task is gone, as when the runtime it ran on was shut down.
                Err(unsent) => unsent.0,
            },
        };
        let (hub, commands) = unbounded_channel();
        let _sent = hub.send(command);
        start(commands);
        hubs.insert(group, hub.clone());
        hub
    }

    /// Gives `command` to the group's hub, if there is one.
    fn send_if_watched(&self, group: WatchGroup, command: Command) {
        let hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hub) = hubs.get(&group) {
            let _sent = hub.send(command);
        }
    }

    /// Takes the hub out of the registry, unless somebody has just asked it for something. Commands are sent under the
    /// same lock, so none is lost in between.
    fn retire(&self, group: WatchGroup, commands: &UnboundedReceiver<Command>) -> bool {
        let mut hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = commands.is_empty();
        if unused {
            hubs.remove(&group);
        }
        unused
    }
}

impl Shared {
    pub(crate) async fn watch(self: &Arc<Self>, request: WatchRequest) -> Result<KvWatch, KvError> {
        let group = request.group;
        let id = self.groups.next_watch.fetch_add(1, Ordering::Relaxed);
        let options = &self.options;
        let mailbox = Arc::new(Mailbox::new(options.watch_buffer_events, options.watch_buffer_bytes));
        let (reply, created) = oneshot::channel();
        let watcher = Watcher::new(request, Arc::clone(&mailbox), reply);
        let key = watcher.key().clone();
        let hub = self.groups.send(group, Command::Create(id, Box::new(watcher)), |commands| {
            tokio::spawn(Hub::new(Arc::clone(self), group, commands).run());
        });
        // From here on, dropping this future cancels the watch.
        let stream = WatchStream::new(id, mailbox, hub);
        match timeout(options.request_timeout, created).await {
            Ok(Ok(Ok(()))) => Ok(Box::pin(stream)),
            Ok(Ok(Err(error))) => Err(error),
            Ok(Err(_)) => Err(Failure::stopped().read(WATCH, Some(&key))),
            Err(_) => Err(Failure::deadline(options.request_timeout).read(WATCH, Some(&key))),
        }
    }

    pub(crate) fn request_progress(&self, group: WatchGroup) {
        self.groups.send_if_watched(group, Command::Progress);
    }
}
