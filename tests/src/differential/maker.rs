//! Chooses steps: mostly such as mean something in the state that the answers so far have led to.

use std::collections::BTreeMap;

use super::{
    seen::{Pair, Seen},
    step::{Expected, Leased, Range, Step, Target, Value},
};
use crate::dice::Dice;

pub(super) struct Maker {
    dice: Dice,
    /// What is there, as far as the answers tell.
    live: BTreeMap<Vec<u8>, Known>,
    head: i64,
    compacted: i64,
    leases: usize,
    watches: Vec<usize>,
    next_watch: usize,
    written: u64,
    /// What has to be done next, so that the backends can be compared at all.
    due: Option<Step>,
}

#[derive(Clone, Copy)]
struct Known {
    revision: i64,
    version: i64,
}

/// Keys that share prefixes, and such whose bytes are no text.
const KEYS: [&[u8]; 9] = [
    b"pods/a",
    b"pods/ab",
    b"pods/b",
    b"pods0",
    b"pods/\xff",
    b"pods/\xff\xff",
    b"nodes/a",
    b"nodes/a\0",
    b"\xff",
];

const PREFIXES: [&[u8]; 7] = [b"", b"pods/", b"pods", b"pods/a", b"nodes/", b"\xff", b"nothing/"];

/// Seconds. None is over during a run.
const TTLS: [u64; 5] = [600, 1_000, 0, 9_000_000_000, 9_000_000_001];

/// The most that a request may have, less what is around the value.
const LARGE: [usize; 3] = [100_000, 1_572_000, 1_600_000];

impl Maker {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::seeded(seed),
            live: BTreeMap::new(),
            head: 0,
            compacted: 0,
            leases: 0,
            watches: Vec::new(),
            next_watch: 0,
            written: 0,
            due: None,
        }
    }

    pub(super) fn next_step(&mut self) -> Step {
        if let Some(due) = self.due.take() {
            return due;
        }
        match self.dice.below(100) {
            0..33 => self.put(),
            33..43 => self.delete(),
            43..53 => Step::Get { key: self.key(), at: self.past() },
            53..67 => Step::List { range: self.range(), parts: self.dice.chance(40) },
            67..70 => Step::Count { prefix: self.dice.pick(&PREFIXES).to_vec() },
            70..74 => Step::Grant { seconds: *self.dice.pick(&TTLS) },
            74..77 => Step::Revoke { lease: self.lease() },
            77..79 => Step::LeaseInfo { lease: self.lease() },
            79..82 => self.compact(),
            82..88 => self.watch(),
            88..97 => Step::Tell,
            97 if !self.watches.is_empty() => Step::Unwatch { watch: *self.dice.pick(&self.watches) },
            _ => Step::Status,
        }
    }

    /// Takes note of what came of a step.
    pub(super) fn learn(&mut self, step: &Step, seen: &Seen) {
        match (step, seen) {
            (Step::Put { key, .. }, Seen::Done { revision }) => {
                let version = self.live.get(key).map_or(1, |known| known.version + 1);
                self.live.insert(key.clone(), Known { revision: *revision, version });
            }
            (Step::Delete { key, .. }, Seen::Done { .. }) => {
                self.live.remove(key);
            }
            (Step::Get { key, at: None }, Seen::Key { kv, .. }) => self.set(key, kv.as_ref()),
            (
                Step::Put { key, shows: true, .. } | Step::Delete { key, shows: true, .. },
                Seen::Conflict { current, .. },
            ) => {
                self.set(key, current.as_ref());
            }
            (Step::Grant { .. }, Seen::Granted { .. }) => self.leases += 1,
            (Step::Compact { to }, Seen::Nothing) => self.compacted = *to,
            (Step::Watch { .. }, Seen::Nothing) => {
                // What is forgotten before a watch has seen it depends on who is faster.
                self.due = Some(Step::Tell);
                self.watches.push(self.next_watch);
                self.next_watch += 1;
            }
            (Step::Tell, Seen::Told(told)) => {
                let ended =
                    |number: &usize| told.iter().any(|(other, _, end)| other == number && end.is_some());
                self.watches.retain(|number| !ended(number));
            }
            (Step::Unwatch { watch }, _) => self.watches.retain(|number| number != watch),
            _ => {}
        }
        if let Seen::Done { revision: head }
        | Seen::Conflict { head, .. }
        | Seen::Key { head, .. }
        | Seen::Head(head) = seen
        {
            self.head = self.head.max(*head);
        }
    }

    fn set(&mut self, key: &[u8], kv: Option<&Pair>) {
        match kv {
            Some(kv) => {
                self.live.insert(key.to_vec(), Known { revision: kv.modified, version: kv.version });
            }
            None => {
                self.live.remove(key);
            }
        }
    }

    fn key(&mut self) -> Vec<u8> {
        self.dice.pick(&KEYS).to_vec()
    }

    fn put(&mut self) -> Step {
        let key = self.key();
        self.written += 1;
        let size = if self.dice.chance(2) { *self.dice.pick(&LARGE) } else { self.dice.below(40) };
        // Sometimes the same bytes again.
        let number = if self.dice.chance(10) { 7 } else { self.written };
        let lease = self.dice.chance(20).then(|| self.lease());
        let expect = self.expected(&key);
        Step::Put { key, value: Value { number, size }, expect, lease, shows: self.dice.chance(60) }
    }

    fn delete(&mut self) -> Step {
        let key = self.key();
        Step::Delete { expect: self.expected(&key), key, shows: self.dice.chance(80) }
    }

    /// Mostly what holds.
    fn expected(&mut self, key: &[u8]) -> Expected {
        let known = self.live.get(key).copied();
        match self.dice.below(20) {
            0 => Expected::Version(self.number(3)),
            1 => Expected::Version(known.map_or(0, |known| known.version)),
            2 => Expected::Revision(0),
            3 => Expected::Revision(self.revision()),
            _ => Expected::Revision(known.map_or(0, |known| known.revision)),
        }
    }

    fn lease(&mut self) -> Leased {
        if self.leases == 0 || self.dice.chance(10) {
            Leased::Unknown
        } else {
            Leased::Number(self.dice.below(self.leases))
        }
    }

    /// From 1 to a little above the head.
    fn revision(&mut self) -> i64 {
        1 + self.number(self.head + 3)
    }

    /// From 0 up to but not including `end`.
    fn number(&mut self, end: i64) -> i64 {
        let number = self.dice.roll() % end.unsigned_abs().max(1);
        number.cast_signed()
    }

    fn past(&mut self) -> Option<i64> {
        match self.dice.below(10) {
            0..6 => None,
            6 => Some(self.head),
            7 => Some(self.compacted.max(1) - i64::from(self.dice.chance(50))),
            _ => Some(self.revision()),
        }
    }

    fn range(&mut self) -> Range {
        let start = self.dice.chance(30).then(|| self.key());
        Range {
            prefix: self.dice.pick(&PREFIXES).to_vec(),
            start,
            at: self.past(),
            limit: if self.dice.chance(50) { self.dice.below(5) as u64 } else { 0 },
            keys_only: self.dice.chance(20),
        }
    }

    /// Of which all watches have been told everything.
    fn compact(&mut self) -> Step {
        let to = match self.dice.below(10) {
            0 => self.compacted,
            1 => self.head + 2,
            _ => self.revision().min(self.head),
        };
        // 0 is where the run began, which may be compacted on one side.
        self.due = Some(Step::Compact { to: to.max(1) });
        Step::Tell
    }

    fn watch(&mut self) -> Step {
        if self.watches.len() >= 4 {
            return Step::Tell;
        }
        let target = match self.dice.chance(40) {
            true => Target::Key(self.key()),
            false => Target::Prefix(self.dice.pick(&PREFIXES).to_vec()),
        };
        // One that begins above the head keeps all of its group from being in step.
        let start = match self.dice.below(10) {
            0..4 => None,
            4 => Some(self.compacted),
            5 => Some(self.compacted - 1),
            _ => Some(self.revision().min(self.head)),
        };
        let start = start.map(|start| start.max(1)).filter(|start| *start <= self.head);
        Step::Watch { target, start, previous: self.dice.chance(60) }
    }
}
