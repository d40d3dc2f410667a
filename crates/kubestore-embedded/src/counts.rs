//! Counts of ranges that a next page will ask for again.
//!
//! etcd's answer to a limited list has the count of the whole range. Counting takes a walk over all of it, for each
//! page anew; but what is left after a page is known when the page is given, and the state at a revision does not
//! change.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;

/// Ranges remembered: about the lists that are being paged through at one time.
const CAPACITY: usize = 128;

/// Where a count holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) revision: i64,
    pub(crate) prefix: Bytes,
    pub(crate) start: Bytes,
}

/// The counts last learnt.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    known: Mutex<VecDeque<(Place, i64)>>,
}

impl Counts {
    pub(crate) fn get(&self, place: &Place) -> Option<i64> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().rev().find(|(at, _)| at == place).map(|(_, count)| *count)
    }

    pub(crate) fn learn(&self, place: Place, count: i64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().any(|(at, _)| *at == place) {
            return;
        }
        if known.len() == CAPACITY {
            known.pop_front();
        }
        known.push_back((place, count));
    }
}
