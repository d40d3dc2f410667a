//! Which objects a list or a watch wants, found out before they are decoded where that can be.

use std::time::Instant;

use bytes::Bytes;
use kubestore_core::{Object, OnCorruptObject, Predicate, Result, StorageError, Wanted};

use crate::{corrupt::is_unreadable, store::Inner};

/// Which objects are wanted, and until when.
pub(crate) struct Selection {
    predicate: Predicate,
    wanted: Wanted,
    deadline: Option<Instant>,
    corrupt: OnCorruptObject,
}

impl Selection {
    pub(crate) fn new(predicate: Predicate, deadline: Option<Instant>) -> Self {
        Self { wanted: predicate.wanted(), predicate, deadline, corrupt: OnCorruptObject::End }
    }

    pub(crate) fn on_corrupt(mut self, corrupt: OnCorruptObject) -> Self {
        self.corrupt = corrupt;
        self
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.predicate.is_empty()
    }

    /// Whether it goes on although an object failed so.
    pub(crate) fn goes_past(&self, error: &StorageError) -> bool {
        self.corrupt == OnCorruptObject::Report && is_unreadable(error)
    }

    /// Whether it is too late.
    pub(crate) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// What is known of an object that was tried.
pub(crate) struct Tried<T> {
    pub(crate) matches: bool,
    /// The object, if it matches and is needed.
    pub(crate) object: Option<T>,
}

impl<T: Object> Inner<T> {
    /// Tries the object of `key` whose plain form is `data`, and decodes it by `decode` where that is needed. Selectors are
    /// tried on the encoded bytes where the codec can; an object on which they cannot be tried does not match, as in the
    /// reference.
    pub(crate) fn tried(
        &self,
        data: Bytes,
        key: &str,
        selection: &Selection,
        needed: bool,
        decode: impl FnOnce(Bytes) -> Result<T>,
    ) -> Result<Tried<T>> {
        if selection.is_everything() {
            return Ok(Tried { matches: true, object: Some(decode(data)?) });
        }
        let skimmed =
            self.codec.skim(&data, &selection.wanted).map_err(|cause| self.undecodable(cause, key))?;
        if let Some(found) = skimmed {
            let matches = selection.predicate.matches(&found);
            drop(found);
            let object = if matches && needed { Some(decode(data)?) } else { None };
            return Ok(Tried { matches, object });
        }
        let object = decode(data)?;
        let matches = selection.predicate.matches(&self.versioner.find(&object, &selection.wanted));
        Ok(Tried { matches, object: (matches && needed).then_some(object) })
    }
}
