//! Finds an order of the operations on one key that explains all answers.
//!
//! Wing and Gong's search with Lowe's memory of states in which it failed before. Each answer carries a revision, so the order
//! of what was answered is given, and that it does not contradict time is checked for all keys at once; what is searched for is
//! where writes of unknown outcome went. (Of the crates that search for linearizations, none that is kept up takes operations
//! that never end, nor an order that is known in part.)

use std::{collections::HashSet, sync::Arc};

use super::{
    Moment,
    register::{State, Step},
};

/// A step that happened, or may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) step: Step<'a>,
    pub(super) begun: Moment,
    /// `None`: nobody knows.
    pub(super) ended: Option<Moment>,
}

/// What came of a search.
#[derive(Debug)]
pub(super) enum Found {
    /// An order with so many of the writes of unknown outcome.
    Order { applied: usize },
    /// There is none: this one of the known steps cannot follow, in the best order of those before it, on this state.
    Nothing { stuck: usize, state: State },
    /// Too many orders to try.
    GaveUp,
}

/// So many steps are tried. A good history takes about one for each operation.
const PATIENCE: usize = 5_000_000;

/// A point of the order that is tried.
struct Point {
    state: State,
    /// Steps before it, of the known ones.
    known: usize,
    /// The others before it, ascending.
    used: Arc<[usize]>,
    /// What to try next: 0 is the next known step, the others follow.
    next: usize,
}

/// Places `unknown` among `known`, which is in order.
pub(super) fn search(known: &[Placed<'_>], unknown: &[Placed<'_>]) -> Found {
    let deadlines = deadlines(known);
    let mut failed = HashSet::new();
    let mut path = vec![Point { state: State::default(), known: 0, used: Arc::new([]), next: 0 }];
    let mut best = (0, State::default());
    for _ in 0..PATIENCE {
        let Some(point) = path.last_mut() else {
            return Found::Nothing { stuck: best.0, state: best.1 };
        };
        if point.known == known.len() {
            return Found::Order { applied: point.used.len() };
        }
        if point.known >= best.0 {
            best = (point.known, point.state.clone());
        }
        match point.advance(known, unknown, deadlines[point.known]) {
            Some(next) => {
                let seen = failed.contains(&(next.known, Arc::clone(&next.used), next.state.clone()));
                if !seen {
                    path.push(next);
                }
            }
            None => {
                if let Some(point) = path.pop() {
                    failed.insert((point.known, point.used, point.state));
                }
            }
        }
    }
    Found::GaveUp
}

impl Point {
    /// The next point to try from here.
    fn advance(&mut self, known: &[Placed<'_>], unknown: &[Placed<'_>], deadline: Moment) -> Option<Self> {
        if self.next == 0 {
            self.next = 1;
            if let Some(state) = self.state.after(known[self.known].step) {
                return Some(Self { state, known: self.known + 1, used: Arc::clone(&self.used), next: 0 });
            }
        }
        while let Some(placed) = unknown.get(self.next - 1) {
            let number = self.next - 1;
            self.next += 1;
            // A write takes effect after it was sent, and before the answers that follow it.
            let Err(place) = self.used.binary_search(&number) else { continue };
            if placed.begun <= deadline
                && let Some(state) = self.state.after(placed.step)
            {
                let mut used = self.used.to_vec();
                used.insert(place, number);
                return Some(Self { state, known: self.known, used: used.into(), next: 0 });
            }
        }
        None
    }
}

/// For each known step when the first of it and those after it ended.
fn deadlines(known: &[Placed<'_>]) -> Vec<Moment> {
    let mut deadline = Moment::MAX;
    let mut deadlines: Vec<_> = known
        .iter()
        .rev()
        .map(|placed| {
            deadline = deadline.min(placed.ended.unwrap_or(Moment::MAX));
            deadline
        })
        .collect();
    deadlines.reverse();
    deadlines
}
