//! What each watch was told, against all that is known to have changed.

use std::collections::HashSet;

use kubestore_kv::{KeyValue, KvEvent, KvEventKind, Revision, WriteOutcome};

use super::{
    Answer, Asked, Attempt, History, Moment, Report, Told, ViolationKind, WatchEnd, WatchRecord,
    attempt::{seen, shown},
    order::past,
    truth::{Change, Truth, expects_nothing},
};

/// Reports what was told wrongly, or not.
pub(super) fn check(history: &History, truth: &Truth<'_>, report: &mut Report) {
    let makers = Makers::of(history);
    for record in &history.watches {
        let mut watch = Watch {
            record,
            truth,
            makers: &makers,
            report,
            done: Revision(0),
            progress: Revision(0),
            told: HashSet::new(),
            first: None,
        };
        watch.read();
        watch.check_end(history);
    }
}

/// What changes are made by, besides the acknowledged writes.
#[derive(Default)]
struct Makers<'a> {
    puts: HashSet<(&'a [u8], &'a [u8])>,
    deletions: HashSet<&'a [u8]>,
    acknowledged: HashSet<(&'a [u8], Revision)>,
}

impl<'a> Makers<'a> {
    fn of(history: &'a History) -> Self {
        let mut makers = Self::default();
        for attempt in &history.attempts {
            match (&attempt.asked, &attempt.answer) {
                (Asked::Put(put), Answer::Unknown) => {
                    makers.puts.insert((&put.key, &put.value));
                }
                (Asked::Delete(delete), Answer::Unknown) => {
                    makers.deletions.insert(&delete.key);
                }
                _ => {
                    if let Some((key, revision)) = written(attempt) {
                        makers.acknowledged.insert((key, revision));
                    }
                }
            }
            if let Asked::Put(put) = &attempt.asked
                && put.lease.is_some()
            {
                makers.deletions.insert(&put.key);
            }
        }
        makers
    }

    fn made(&self, event: &KvEvent) -> bool {
        let key: &[u8] = &event.kv.key;
        let unknown = match event.kind {
            KvEventKind::Put => self.puts.contains(&(key, &event.kv.value)),
            KvEventKind::Delete => self.deletions.contains(key),
        };
        unknown || self.acknowledged.contains(&(key, event.kv.mod_revision))
    }
}

/// A watch as it is read through.
struct Watch<'a> {
    record: &'a WatchRecord,
    truth: &'a Truth<'a>,
    makers: &'a Makers<'a>,
    report: &'a mut Report,
    /// The last revision of events.
    done: Revision,
    progress: Revision,
    told: HashSet<(&'a [u8], Revision)>,
    /// The lowest revision told of.
    first: Option<Revision>,
}

impl<'a> Watch<'a> {
    fn read(&mut self) {
        for (at, told) in &self.record.told {
            match told {
                Told::Events { events, through } => self.read_events(*at, events, *through),
                Told::Progress(revision) => {
                    if *revision < self.progress.max(self.done) {
                        let (done, progress) = (self.done, self.progress);
                        let message =
                            format!("{revision} after events through {done} and progress {progress}");
                        self.add(ViolationKind::ProgressBack, *at, &message);
                    }
                    self.progress = self.progress.max(*revision);
                    self.first.get_or_insert(revision.next());
                }
            }
        }
    }

    fn read_events(&mut self, at: Moment, events: &'a [KvEvent], through: Revision) {
        let revisions = events.iter().map(|event| event.kv.mod_revision);
        let last = events.last().map(|event| event.kv.mod_revision);
        if last != Some(through) || !revisions.is_sorted() {
            let message = format!("{} events through {through}, the last at {last:?}", events.len());
            self.add(ViolationKind::ItemMalformed, at, &message);
        }
        let (done, progress) = (self.done, self.progress);
        for event in events {
            let (key, revision): (&[u8], _) = (&event.kv.key, event.kv.mod_revision);
            self.first.get_or_insert(revision);
            if !self.told.insert((key, revision)) {
                self.add_event(ViolationKind::EventTwice, at, event, "it was told before");
            } else if revision <= done.max(progress) {
                let why = format!("after events through {done} and progress {progress}");
                self.add_event(ViolationKind::EventTooLate, at, event, &why);
            }
            self.check_event(at, event);
        }
        self.done = self.done.max(through).max(last.unwrap_or_default());
    }

    fn check_event(&mut self, at: Moment, event: &KvEvent) {
        let request = &self.record.request;
        if !request.target.contains(&event.kv.key) {
            self.add_event(ViolationKind::EventForeign, at, event, "it is not watched");
        }
        if past(request.start).is_some_and(|start| event.kv.mod_revision < start) {
            self.add_event(ViolationKind::EventTooEarly, at, event, "it is from before the start");
        }
        if !self.makers.made(event) {
            self.add_event(ViolationKind::EventInvented, at, event, "nobody wrote this");
        }
        if let Some(wrong) = self.wrong_previous(event) {
            self.add_event(ViolationKind::PreviousWrong, at, event, &wrong);
        }
    }

    fn wrong_previous(&self, event: &KvEvent) -> Option<String> {
        let previous = event.previous.as_ref();
        if !self.record.request.previous || event.is_create() {
            return previous
                .map(|previous| format!("{} is more than there is to tell", seen(Some(previous))));
        }
        let (key, revision) = (&event.kv.key, event.kv.mod_revision);
        match (self.truth.before(key, revision), previous) {
            (Some(change), Some(previous)) if change.is(previous) && fits(previous, event) => None,
            (_, None) if self.truth.may_have_forgotten(revision) => None,
            (change, previous) => {
                let replaced = change.map_or_else(|| "nothing".to_owned(), Change::text);
                Some(format!("it replaced what was {replaced}, and tells {}", seen(previous)))
            }
        }
    }

    /// What it should have been told, and was not.
    fn check_end(&mut self, history: &History) {
        match self.record.end {
            Some(WatchEnd::Silent) => {
                self.add(ViolationKind::SilentEnd, 0, "it ended without an error");
            }
            end => {
                let open = end.is_none() && self.record.registered.is_some();
                let settled = history.settled.filter(|_| open).unwrap_or_default();
                self.check_missing(history, settled.max(self.done).max(self.progress));
            }
        }
        if let Some(floor) = before(self.record, history)
            && let Some(first) = self.first
            && past(self.record.request.start).is_none()
            && first <= floor
        {
            let message = format!("{first} is not after {floor}, which it was to begin after");
            self.add(ViolationKind::EventTooEarly, 0, &message);
        }
    }

    fn check_missing(&mut self, history: &History, through: Revision) {
        let start = match past(self.record.request.start) {
            Some(start) => start,
            None => match [after(self.record, history), self.first].into_iter().flatten().min() {
                Some(start) => start,
                None => return,
            },
        };
        let target = &self.record.request.target;
        let mut missing = Vec::new();
        for (key, changes) in self.truth.changes().filter(|(key, _)| target.contains(key)) {
            let wanted = changes.range(start..).take_while(|(revision, _)| **revision <= through);
            let untold = wanted.filter(|(revision, _)| !self.told.contains(&(key, **revision)));
            missing.extend(
                untold.map(|(revision, change)| format!("{} at {revision}, {}", shown(key), change.text())),
            );
        }
        missing.iter().for_each(|missing| self.add(ViolationKind::EventMissing, 0, missing));
    }

    fn add(&mut self, kind: ViolationKind, at: Moment, what: &str) {
        let WatchRecord { client, request, begun, .. } = self.record;
        let start = request.start.map_or_else(|| "now".to_owned(), |start| start.to_string());
        let at = if at == 0 { String::new() } else { format!(" in {at}") };
        self.report.add(kind, format!("watch of client {client} from {start}, begun in {begun}{at}: {what}"));
    }

    fn add_event(&mut self, kind: ViolationKind, at: Moment, event: &KvEvent, why: &str) {
        let (key, revision) = (shown(&event.kv.key), event.kv.mod_revision);
        self.add(kind, at, &format!("{:?} of {key} at {revision}: {why}", event.kind));
    }
}

/// Whether what an event replaced is one write older.
fn fits(previous: &KeyValue, event: &KvEvent) -> bool {
    let kv = &event.kv;
    let follows = kv.version == previous.version + 1 && kv.create_revision == previous.create_revision;
    previous.key == kv.key && (event.kind == KvEventKind::Delete || follows)
}

/// The highest revision known to have been reached when the watch was asked for.
fn before(watch: &WatchRecord, history: &History) -> Option<Revision> {
    let ended = history.attempts.iter().filter(|attempt| attempt.ended.is_some_and(|at| at < watch.begun));
    ended.filter_map(|attempt| head(&attempt.answer)).max()
}

/// The lowest revision written after the watch was in place.
fn after(watch: &WatchRecord, history: &History) -> Option<Revision> {
    let registered = watch.registered?;
    let later = history.attempts.iter().filter(|attempt| attempt.begun > registered);
    later.filter_map(written).map(|(_, revision)| revision).min()
}

/// What an acknowledged write changed.
fn written(attempt: &Attempt) -> Option<(&[u8], Revision)> {
    let Answer::Written(WriteOutcome::Done { revision }) = &attempt.answer else { return None };
    match &attempt.asked {
        Asked::Put(put) => Some((&put.key, *revision)),
        Asked::Delete(delete) if !expects_nothing(delete.expect) => Some((&delete.key, *revision)),
        _ => None,
    }
}

/// The revision that an answer shows to be reached.
fn head(answer: &Answer) -> Option<Revision> {
    match answer {
        Answer::Written(WriteOutcome::Done { revision: head } | WriteOutcome::Conflict { head, .. })
        | Answer::Key { head, .. }
        | Answer::Range { revision: head, .. } => Some(*head),
        _ => None,
    }
}
