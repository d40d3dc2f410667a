//! What exists at one revision, so that ranges can be counted and cut without a walk.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use crate::index::Index;

/// Revisions remembered: those that are being paged through at one time.
const CAPACITY: usize = 4;

/// The keys that exist at a revision. It takes 8 bytes a key.
#[derive(Debug)]
pub(crate) struct View {
    revision: i64,
    live: Vec<Live>,
}

/// A key that exists, and which of all versions is its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    key: u32,
    version: u32,
}

impl Live {
    pub(crate) fn key(self) -> usize {
        self.key as usize
    }

    pub(crate) fn version(self) -> usize {
        self.version as usize
    }
}

impl View {
    fn new(index: &Index, revision: i64) -> Self {
        let numbers = (0_u32..).zip(0..index.len());
        let live = numbers.filter_map(|(number, key)| {
            let version = index.version_at(key, revision)?;
            Some(Live { key: number, version: u32::try_from(version).ok()? })
        });
        Self { revision, live: live.collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.live.len()
    }

    /// The keys from `start` to before `end`.
    pub(crate) fn range(&self, index: &Index, start: &[u8], end: Option<&[u8]>) -> Range<usize> {
        let position = |name| {
            let bound = index.lower_bound(name);
            self.live.partition_point(|live| live.key() < bound)
        };
        let start = position(start);
        start..end.map_or(self.live.len(), position).max(start)
    }

    pub(crate) fn get(&self, range: Range<usize>) -> &[Live] {
        &self.live[range]
    }
}

/// The views made last.
#[derive(Debug, Default)]
pub(crate) struct Views {
    made: Mutex<VecDeque<Arc<View>>>,
}

impl Views {
    pub(crate) fn at(&self, index: &Index, revision: i64) -> Arc<View> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = made.iter().find(|view| view.revision == revision) {
            return Arc::clone(view);
        }
        // Others wait, so that none is made twice.
        let view = Arc::new(View::new(index, revision));
        if made.len() == CAPACITY {
            made.pop_front();
        }
        made.push_back(Arc::clone(&view));
        view
    }
}
