//! Watches: what each would have been told by now.

use std::{collections::VecDeque, sync::Arc};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use kubestore_codec::{Unstructured, UnstructuredVersioner};
use kubestore_core::{
    Predicate, Scope, StorageError, Versioner as _, WatchEvent, WatchOptions, parse_resource_version, quote,
};
use kubestore_kv::KeyValue;
use kubestore_transform::Transformer;
use serde_json::{Value, json};

use super::{
    Model,
    keys::Change,
    read::{Answer, decode, open},
};
use crate::{
    recording::WatchStep,
    replay::{Event, Performed, event_value, events_value},
};

/// One watch.
#[derive(Debug)]
pub(super) struct ModelWatch {
    key: String,
    recursive: bool,
    predicate: Predicate,
    /// That of the store that the watch was made on.
    transformer: Arc<dyn Transformer>,
    /// The first revision it asked for.
    start: i64,
    /// The first revision it has not been told of.
    next: i64,
    queue: VecDeque<Event>,
    closed: bool,
}

impl ModelWatch {
    fn contains(&self, key: &str) -> bool {
        if self.recursive { key.starts_with(&self.key) } else { self.key == key }
    }

    fn object(&self, key: &str, value: &Bytes, revision: i64) -> Answer<Unstructured> {
        let opened = open(&*self.transformer, key, value).map_err(StorageError::internal);
        let mut object = decode(key, opened?.0, revision)?;
        // What a read leaves alone ends a watch; the reference shows the object after this.
        let versioned = UnstructuredVersioner.set_resource_version(&mut object, revision.cast_unsigned());
        let failure = || StorageError::other(format!("failure to version api object ({revision}) "));
        versioned.map(|()| object).map_err(|_| failure())
    }

    fn matches(&self, object: &Unstructured) -> bool {
        self.predicate.matches(&UnstructuredVersioner.find(object, &self.predicate.wanted()))
    }
}

impl Model {
    pub(super) fn watch(&mut self, step: &WatchStep) -> Result<Performed> {
        if self.watches.contains_key(&step.id) || step.id.is_empty() {
            bail!("watch id {:?} is empty or in use", step.id);
        }
        let options = self.results.watch_options(step)?;
        match self.started(&step.key, &options) {
            Ok(watch) => {
                self.watches.insert(step.id.clone(), watch);
                Ok(Performed::nothing())
            }
            Err(error) => Ok(Performed::failed(&error, &self.notation)),
        }
    }

    fn started(&self, key: &str, options: &WatchOptions) -> Answer<ModelWatch> {
        let recursive = options.scope == Scope::Recursive;
        let key = if recursive { self.prefix.prepare_recursive(key)? } else { self.prefix.prepare(key)? };
        let parsed = parse_resource_version(&options.resource_version)
            .map_err(|error| StorageError::invalid_resource_version(&error))?;
        let wanted = options.send_initial_events;
        let initial = if self.watch_list { wanted } else { None }.unwrap_or(parsed == 0 && wanted.is_none());
        let after = match parsed.cast_signed() {
            0 if !self.watch_list || wanted != Some(false) => 0,
            0 => self.keys.head,
            // What is negative as a revision is before all others.
            after => after.max(0),
        };
        let mut watch = ModelWatch {
            key,
            recursive,
            predicate: options.predicate.clone(),
            transformer: Arc::clone(&self.transformer),
            start: after.saturating_add(1),
            next: after.saturating_add(1),
            queue: VecDeque::new(),
            closed: false,
        };
        if after == i64::MAX {
            end(&mut watch, StorageError::watch_expired());
        } else if initial {
            self.tell_initial(&mut watch);
            let end = self.watch_list && wanted == Some(true) && options.allow_bookmarks;
            if end && !watch.closed {
                let resource_version = self.keys.head.cast_unsigned();
                watch
                    .queue
                    .push_back(Ok(WatchEvent::Bookmark { resource_version, initial_events_end: true }));
            }
        }
        Ok(watch)
    }

    fn tell_initial(&self, watch: &mut ModelWatch) {
        let keys = self.keys.range(&watch.key, &watch.key, self.keys.head);
        for (key, kv) in keys.filter(|(key, _)| watch.contains(key)).collect::<Vec<_>>() {
            match watch.object(key, &kv.value, kv.mod_revision.0) {
                Ok(object) if watch.matches(&object) => watch.queue.push_back(Ok(WatchEvent::Added(object))),
                Ok(_) => {}
                Err(error) => return end(watch, error),
            }
        }
        watch.start = self.keys.head + 1;
        watch.next = watch.start;
    }

    /// Tells every watch what has happened since it was told last.
    pub(super) fn tell(&mut self) {
        let mut watches = std::mem::take(&mut self.watches);
        for watch in watches.values_mut().filter(|watch| !watch.closed) {
            if watch.next < self.keys.compacted {
                end(watch, StorageError::watch_expired());
                continue;
            }
            let mut changes = self.keys.changes(watch.next);
            changes.retain(|change| watch.contains(&change.key));
            for change in &changes {
                match told(watch, change) {
                    Ok(event) => watch.queue.extend(event.map(Ok)),
                    Err(error) => {
                        end(watch, error);
                        break;
                    }
                }
            }
            watch.next = watch.next.max(self.keys.head + 1);
        }
        self.watches = watches;
    }

    /// Bookmarks for all watches, whichever store they were made on, if all of them are in step.
    pub(super) fn request_progress(&mut self) -> Performed {
        let head = self.keys.head;
        let mut watches: Vec<_> = self.watches.values_mut().filter(|watch| !watch.closed).collect();
        if watches.iter().all(|watch| watch.start <= head) {
            for watch in &mut watches {
                let resource_version = head.cast_unsigned();
                watch
                    .queue
                    .push_back(Ok(WatchEvent::Bookmark { resource_version, initial_events_end: false }));
            }
        }
        Performed::nothing()
    }

    /// How many events have not been taken, and whether the watch has ended.
    pub(crate) fn pending(&self, id: &str) -> (usize, bool) {
        self.watches.get(id).map_or((0, true), |watch| (watch.queue.len(), watch.closed))
    }

    /// Events that have not been taken, at most `wanted`.
    pub(super) fn events(&mut self, id: &str, wanted: usize) -> Result<Performed> {
        let (events, closed) = self.take(id, wanted)?;
        Ok(Performed::ok(events_value(&events, wanted, closed)))
    }

    pub(super) fn quiet(&mut self, id: &str) -> Result<Performed> {
        let (events, _) = self.take(id, usize::MAX)?;
        Ok(Performed::ok(json!({ "events": events })))
    }

    pub(super) fn closed(&mut self, id: &str) -> Result<Performed> {
        let (pending, closed) = self.take(id, usize::MAX)?;
        Ok(Performed::ok(json!({ "closed": closed, "pending": pending })))
    }

    pub(super) fn stop(&mut self, id: &str) -> Result<Performed> {
        let watch = self.watches.get_mut(id).with_context(|| format!("there is no watch {id:?}"))?;
        watch.closed = true;
        watch.queue.clear();
        Ok(Performed::ok(json!({ "closed": true })))
    }

    fn take(&mut self, id: &str, wanted: usize) -> Result<(Vec<Value>, bool)> {
        let watch = self.watches.get_mut(id).with_context(|| format!("there is no watch {id:?}"))?;
        let count = wanted.min(watch.queue.len());
        let events: Vec<_> = watch.queue.drain(..count).collect();
        let values = events.iter().map(|event| event_value(event, &self.notation)).collect::<Result<_>>()?;
        Ok((values, watch.closed))
    }
}

/// What a change is to a watch, if anything.
fn told(watch: &ModelWatch, change: &Change) -> Answer<Option<WatchEvent<Unstructured>>> {
    let created = change.current.as_ref().is_some_and(|kv| kv.create_revision == kv.mod_revision);
    if !created && change.previous.is_none() {
        let kind = if change.current.is_some() { "PUT" } else { "DELETE" };
        let (key, revision) = (quote(&change.key), change.revision);
        return Err(StorageError::other(format!(
            "etcd event received with PrevKv=nil (key={key}, modRevision={revision}, type={kind})"
        )));
    }
    let object = |kv: &KeyValue| watch.object(&change.key, &kv.value, change.revision);
    let new = change.current.as_ref().map(object).transpose()?;
    if let Some(new) = &new
        && watch.predicate.is_empty()
    {
        let event = if created { WatchEvent::Added } else { WatchEvent::Modified };
        return Ok(Some(event(new.clone())));
    }
    // A value that was empty counts as none.
    let previous = change.previous.as_ref().filter(|kv| !created && !kv.value.is_empty());
    let old = previous.map(object).transpose()?.filter(|object| watch.matches(object));
    let new = new.filter(|object| watch.matches(object));
    Ok(match (old, new) {
        (None, None) => None,
        (None, Some(new)) => Some(WatchEvent::Added(new)),
        (Some(_), Some(new)) => Some(WatchEvent::Modified(new)),
        (Some(old), None) => Some(WatchEvent::Deleted(old)),
    })
}

fn end(watch: &mut ModelWatch, error: StorageError) {
    watch.queue.push_back(Err(error.into_watch_error()));
    watch.closed = true;
}
