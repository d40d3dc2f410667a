//! A transformer that does to values what a case says.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use kubestore_conformance::storage::Tampering;
use kubestore_transform::{
    MaybeReady, Opened, TransformError, TransformErrorKind, Transformer, ValueContext,
};

/// Marks values, and opens only what has the mark.
#[derive(Debug, Default)]
pub(crate) struct Tamper {
    how: Mutex<Tampering>,
    opened: AtomicUsize,
}

const MARK: &[u8] = b"marked:";

impl Tamper {
    pub(crate) fn set(&self, how: Tampering) {
        *self.how.lock().unwrap_or_else(PoisonError::into_inner) = how;
    }

    /// How many values were opened since the last time.
    pub(crate) fn take_opened(&self) -> usize {
        self.opened.swap(0, Ordering::Relaxed)
    }

    /// The value that `stored` was made of, whatever is done to values at the moment.
    pub(crate) fn reveal(stored: &Bytes) -> Bytes {
        stored.slice(if stored.starts_with(MARK) { MARK.len() } else { 0 }..)
    }

    fn how(&self) -> Tampering {
        *self.how.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transformer for Tamper {
    fn transform_from_storage<'a>(
        &'a self,
        stored: Bytes,
        _: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Opened, TransformError>> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let how = self.how();
        if how == Tampering::FailReads || !stored.starts_with(MARK) {
            return MaybeReady::ready(Err(TransformError::new(TransformErrorKind::NoMatchingPrefix)));
        }
        MaybeReady::ready(Ok(Opened::new(Self::reveal(&stored), how == Tampering::Stale)))
    }

    fn transform_to_storage<'a>(
        &'a self,
        plain: Bytes,
        _: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Bytes, TransformError>> {
        let stored = match self.how() {
            Tampering::Spoil => [b"other:", &plain[..]].concat(),
            Tampering::WhiteSpace => [MARK, b" ", &plain].concat(),
            _ => [MARK, &plain].concat(),
        };
        MaybeReady::ready(Ok(stored.into()))
    }

    fn output_is_unique(&self) -> bool {
        false
    }
}
