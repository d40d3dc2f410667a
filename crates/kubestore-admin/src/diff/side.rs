//! One of the two that are compared.

use std::{iter::Peekable, vec::IntoIter};

use bytes::Bytes;
use kubestore_kv::{KeyValue, Kv, Revision};

use super::DiffOptions;
use crate::{AdminError, Scope, key_map::KeyMap, scan, scan::Scan};

/// The keys of one side, in their order.
pub(super) struct Side<'a> {
    scan: Scan<'a>,
    scope: Scope,
    map: KeyMap,
    part: Peekable<IntoIter<KeyValue>>,
    total: u64,
    read: u64,
}

impl<'a> Side<'a> {
    pub(super) async fn begin(
        kv: &'a dyn Kv,
        scope: &Scope,
        revision: Option<Revision>,
        options: &DiffOptions,
    ) -> Result<Self, AdminError> {
        let failed = |source| AdminError::reading("diff", revision.unwrap_or_default(), source);
        let prefixes = scope.key_prefixes();
        let total = scan::count(kv, &prefixes, options.retry_for).await.map_err(failed)?;
        let scan = Scan::begin_at(kv, prefixes, revision, true, options.retry_for).await.map_err(failed)?;
        let (scope, map) = (scope.clone(), KeyMap::new(scope.prefix()));
        Ok(Self { scan, scope, map, part: Vec::new().into_iter().peekable(), total, read: 0 })
    }

    /// About how many keys there are.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// How many keys were looked at.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// The next key; none at the end.
    pub(super) async fn key(&mut self) -> Result<Option<&Bytes>, AdminError> {
        while self.part.peek().is_none() {
            let revision = self.scan.revision();
            let next =
                self.scan.next().await.map_err(|source| AdminError::reading("diff", revision, source))?;
            let Some(mut next) = next else { return Ok(None) };
            let read = next.len() as u64;
            next.retain(|kv| self.scope.contains(&self.map.owner(&kv.key).id));
            self.read += read - next.len() as u64;
            self.part = next.into_iter().peekable();
        }
        Ok(self.part.peek().map(|kv| &kv.key))
    }

    /// The key that was told next.
    pub(super) fn take(&mut self) -> Option<KeyValue> {
        let kv = self.part.next()?;
        self.read += 1;
        Some(kv)
    }
}
