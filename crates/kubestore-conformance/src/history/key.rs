//! Each key alone.

use std::{
    collections::BTreeMap,
    ops::Bound::{Included, Unbounded},
};

use kubestore_kv::{KeyValue, KvEvent, KvEventKind, Revision, WriteOutcome};

use super::{
    Answer, Asked, Attempt, History, Moment, Report, Told, ViolationKind,
    attempt::shown,
    order::past,
    register::{Detail, Step},
    search::{Found, Placed, search},
    truth::{Truth, expects_nothing},
};

/// What is known about one key.
#[derive(Default)]
struct Case<'a> {
    known: Vec<Known<'a>>,
    unknown: Vec<Placed<'a>>,
}

struct Known<'a> {
    revision: Revision,
    placed: Placed<'a>,
    /// Who says so; `None` is a watch.
    attempt: Option<&'a Attempt>,
}

/// Reports the keys whose answers no order of operations explains.
pub(super) fn check(history: &History, truth: &Truth<'_>, report: &mut Report) {
    let mut cases: BTreeMap<&[u8], Case<'_>> = truth.keys().map(|key| (key, Case::default())).collect();
    for attempt in &history.attempts {
        match &attempt.asked {
            Asked::Put(put) => cases.entry(&put.key).or_default().add_write(attempt),
            Asked::Delete(delete) => cases.entry(&delete.key).or_default().add_write(attempt),
            Asked::Get(get) => cases.entry(&get.key).or_default().add_get(attempt),
            Asked::List(_) | Asked::Compact(_) => {}
        }
    }
    history.attempts.iter().for_each(|attempt| add_list(&mut cases, attempt));
    add_events(&mut cases, history);
    report.keys = cases.len();
    for (key, case) in cases {
        case.check(key, report);
    }
}

impl<'a> Case<'a> {
    fn add(&mut self, attempt: &'a Attempt, step: Step<'a>, revision: Revision, begun: Moment) {
        let placed = Placed { step, begun, ended: attempt.ended };
        self.known.push(Known { revision, placed, attempt: Some(attempt) });
    }

    fn add_read(&mut self, attempt: &'a Attempt, kv: Option<&'a KeyValue>, head: Revision, begun: Moment) {
        self.add(attempt, Step::Read { kv, head, detail: Detail::Whole }, head, begun);
    }

    fn add_write(&mut self, attempt: &'a Attempt) {
        let (expect, shows) = match &attempt.asked {
            Asked::Put(put) => (put.expect, put.on_failure),
            Asked::Delete(delete) => (delete.expect, delete.on_failure),
            _ => return,
        };
        let nothing = matches!(attempt.asked, Asked::Delete(_)) && expects_nothing(expect);
        match &attempt.answer {
            Answer::Written(WriteOutcome::Done { revision }) if nothing => {
                self.add_read(attempt, None, *revision, attempt.begun);
            }
            Answer::Written(WriteOutcome::Done { revision }) => {
                let Some(step) = write_step(&attempt.asked, Some(*revision)) else { return };
                self.add(attempt, step, *revision, attempt.begun);
            }
            Answer::Written(WriteOutcome::Conflict { current, head }) => {
                if shows == kubestore_kv::OnFailure::Get {
                    self.add_read(attempt, current.as_ref(), *head, attempt.begun);
                }
                self.add(attempt, Step::Conflict { expect, head: *head }, *head, attempt.begun);
            }
            Answer::Unknown if !nothing => {
                let Some(step) = write_step(&attempt.asked, None) else { return };
                self.unknown.push(Placed { step, begun: attempt.begun, ended: None });
            }
            _ => {}
        }
    }

    fn add_get(&mut self, attempt: &'a Attempt) {
        let (Asked::Get(get), Answer::Key { kv, head }) = (&attempt.asked, &attempt.answer) else { return };
        match past(get.revision) {
            // The state of a past revision may be read at any time after it.
            Some(revision) => self.add_read(attempt, kv.as_ref(), revision, 0),
            None => self.add_read(attempt, kv.as_ref(), *head, attempt.begun),
        }
    }

    fn check(mut self, key: &[u8], report: &mut Report) {
        self.known.sort_by_key(|known| {
            let reads = matches!(known.placed.step, Step::Read { .. } | Step::Conflict { .. });
            (known.revision, reads, known.placed.begun)
        });
        let known: Vec<_> = self.known.iter().map(|known| known.placed).collect();
        match search(&known, &self.unknown) {
            Found::Order { applied } => report.applied += applied,
            Found::GaveUp => {
                let message = format!("{} with {} unknown outcomes", shown(key), self.unknown.len());
                report.add(ViolationKind::Undecided, message);
            }
            Found::Nothing { stuck, state } => {
                let Known { revision, attempt, .. } = &self.known[stuck];
                let what = attempt.map_or_else(|| format!("an event at {revision}"), ToString::to_string);
                let (key, unknown) = (shown(key), self.unknown.len());
                let message = format!(
                    "{key}: {what}: cannot be where the key is {}, whichever of {unknown} writes of unknown outcome \
                     were applied",
                    state.text()
                );
                report.add(ViolationKind::NotLinearizable, message);
            }
        }
    }
}

fn write_step(asked: &Asked, revision: Option<Revision>) -> Option<Step<'_>> {
    match asked {
        Asked::Put(put) => {
            Some(Step::Put { expect: put.expect, value: &put.value, lease: put.lease, revision })
        }
        Asked::Delete(delete) => Some(Step::Delete { expect: delete.expect, revision }),
        _ => None,
    }
}

/// A list is a read of each key in its range, those that it does not have included.
fn add_list<'a>(cases: &mut BTreeMap<&'a [u8], Case<'a>>, attempt: &'a Attempt) {
    let (Asked::List(list), Answer::Range { kvs, revision, more, .. }) = (&attempt.asked, &attempt.answer)
    else {
        return;
    };
    let begun = if past(list.revision).is_some() { 0 } else { attempt.begun };
    let detail = if list.keys_only { Detail::Key } else { Detail::Whole };
    for kv in kvs {
        // So that a key that nobody has heard of is looked at.
        cases.entry(&kv.key).or_default();
    }
    let last = if *more { kvs.last().map(|kv| &*kv.key) } else { None };
    let first: &[u8] = list.first_key();
    let mut listed = kvs.iter().peekable();
    for (key, case) in cases.range_mut::<[u8], _>((Included(first), Unbounded)) {
        if !key.starts_with(&list.prefix) || last.is_some_and(|last| *key > last) {
            break;
        }
        while listed.next_if(|kv| kv.key < *key).is_some() {}
        let kv = listed.next_if(|kv| kv.key == *key);
        case.add(attempt, Step::Read { kv, head: *revision, detail }, *revision, begun);
    }
}

/// An event is a read at its revision, known from when the first watch was told.
fn add_events<'a>(cases: &mut BTreeMap<&'a [u8], Case<'a>>, history: &'a History) {
    let mut first = BTreeMap::<(&[u8], Revision), (Moment, &KvEvent)>::new();
    for watch in &history.watches {
        for (at, told) in &watch.told {
            let Told::Events { events, .. } = told else { continue };
            for event in events {
                let known = first.entry((&event.kv.key, event.kv.mod_revision)).or_insert((*at, event));
                if known.0 > *at {
                    *known = (*at, event);
                }
            }
        }
    }
    for ((key, revision), (at, event)) in first {
        let kv = (event.kind == KvEventKind::Put).then_some(&event.kv);
        let step = Step::Read { kv, head: revision, detail: Detail::Whole };
        let placed = Placed { step, begun: 0, ended: Some(at) };
        cases.entry(key).or_default().known.push(Known { revision, placed, attempt: None });
    }
}
