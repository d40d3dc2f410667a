//! What came of checking a history.

use std::{collections::BTreeMap, error::Error, fmt};

/// The judgement on a history.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Operations begun.
    pub operations: usize,
    /// Writes whose outcome nobody knew.
    pub unknown: usize,
    /// Those of them that must have been applied for the rest to be possible.
    pub applied: usize,
    /// Keys concerned.
    pub keys: usize,
    /// Watches begun.
    pub watches: usize,
    /// Events told to them.
    pub events: usize,
    /// What cannot be. Empty when the history is good.
    pub violations: Vec<Violation>,
}

impl Report {
    /// Whether a backend that keeps its promises could have told this.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether something of this kind was found.
    #[must_use]
    pub fn has(&self, kind: ViolationKind) -> bool {
        self.violations.iter().any(|violation| violation.kind == kind)
    }

    pub(super) fn add(&mut self, kind: ViolationKind, message: impl Into<String>) {
        self.violations.push(Violation { kind, message: message.into() });
    }
}

/// Of one kind so many are shown.
const SHOWN: usize = 5;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operations, unknown, applied, keys, watches, events, violations } = self;
        write!(
            f,
            "{operations} operations on {keys} keys, {unknown} writes of unknown outcome of which at least {applied} \
             were applied, {watches} watches with {events} events: "
        )?;
        if violations.is_empty() {
            return f.write_str("all in order");
        }
        write!(f, "{} violations", violations.len())?;
        let mut shown = BTreeMap::<ViolationKind, usize>::new();
        for violation in violations {
            let count = shown.entry(violation.kind).or_default();
            *count += 1;
            if *count <= SHOWN {
                write!(f, "\n  {violation}")?;
            }
        }
        for (kind, count) in shown.into_iter().filter(|(_, count)| *count > SHOWN) {
            write!(f, "\n  {kind:?}: {} more", count - SHOWN)?;
        }
        Ok(())
    }
}

/// Something that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    kind: ViolationKind,
    message: String,
}

impl Violation {
    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ViolationKind {
        self.kind
    }

    /// Where, and what is known about it.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl Error for Violation {}

/// What can be wrong with a history.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationKind {
    /// One key was seen with two contents at one revision.
    Contradiction,
    /// A watch was told of a key that it does not watch.
    EventForeign,
    /// A watch was told of a change that nobody made.
    EventInvented,
    /// A watch was not told of a change although it was told of later ones, or had the time.
    EventMissing,
    /// A watch was told of a change from before its start.
    EventTooEarly,
    /// A watch was told of a change after it had been told that all up to there was said.
    EventTooLate,
    /// A watch was told twice of one change.
    EventTwice,
    /// The items of a watch are malformed: empty, not ascending, of a wrong last revision, after its end.
    ItemMalformed,
    /// A list is not in order, not within its range, longer than its limit, or wrong about what follows.
    ListMalformed,
    /// No order of the operations on a key explains the answers.
    NotLinearizable,
    /// The previous value of an event is missing, unasked for, or not what the event replaced.
    PreviousWrong,
    /// A watch was told of progress below what it had been told before.
    ProgressBack,
    /// Revisions contradict time: what ended first has the higher one.
    RevisionsBack,
    /// Two writes have one revision.
    RevisionShared,
    /// A watch ended without an error.
    SilentEnd,
    /// There are too many orders to try: nothing is known. Use fewer operations of unknown outcome per key.
    Undecided,
}
