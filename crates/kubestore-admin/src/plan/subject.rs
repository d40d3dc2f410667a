//! What changes for one resource.

use std::collections::HashSet;

use bytes::Bytes;
use kubestore_codec::ResourceTable;
use kubestore_transform::{EncryptionConfig, ResourcePattern, ResourceRule, Transformer, ValueContext};

use super::chain::{Chain, Link};
use crate::{Census, CensusRow, ResourceId};

/// A resource, or a pattern for several, with its providers before and after.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) resource: ResourcePattern,
    pub(super) old: Chain,
    pub(super) new: Chain,
    /// Whether servers with the old configuration can read what those with the new one write.
    pub(super) old_reads_new: bool,
    /// Whether a key that writes has the same name in both and another secret.
    pub(super) has_other_secrets: bool,
    /// What is stored, if that is known.
    pub(super) stored: Option<Vec<CensusRow>>,
}

/// All resources that either configuration names or that are stored, in the order of their names.
pub(super) fn subjects(
    old: &EncryptionConfig,
    new: &EncryptionConfig,
    census: Option<&Census>,
) -> Vec<Subject> {
    let rules = [old, new].into_iter().flat_map(EncryptionConfig::rules);
    let mut resources: Vec<_> = rules.flat_map(ResourceRule::resources).cloned().collect();
    let rows = || {
        let rows = census.into_iter().flat_map(|census| &census.rows);
        rows.filter(|row| !is_internal(&row.resource))
    };
    resources.extend(rows().filter_map(|row| pattern(&row.resource)));
    resources.sort_by_key(ToString::to_string);
    let mut seen = HashSet::new();
    resources.retain(|resource| seen.insert(resource.clone()));
    let is_meant = |resource: &ResourcePattern, row: &CensusRow| match pattern(&row.resource) {
        // A pattern stands for the resources that have no line of their own.
        Some(exact) => exact == *resource,
        None => resource.is_everything(),
    };
    let subject = |resource: ResourcePattern| {
        let stored = census.map(|_| rows().filter(|row| is_meant(&resource, row)).cloned().collect());
        Subject::new(resource, old, new, stored)
    };
    resources.into_iter().map(subject).collect()
}

/// None for what is under no rule of its own.
fn pattern(id: &ResourceId) -> Option<ResourcePattern> {
    id.group_resource().map(|known| ResourcePattern::parse(&known.to_string()))
}

/// Whether API servers keep it for themselves, so that no configuration applies.
fn is_internal(id: &ResourceId) -> bool {
    let known = id.group_resource().and_then(|known| ResourceTable::builtin().by_group_resource(known));
    known.is_some_and(|resource| resource.is_internal())
}

impl Subject {
    fn new(
        resource: ResourcePattern,
        old: &EncryptionConfig,
        new: &EncryptionConfig,
        stored: Option<Vec<CensusRow>>,
    ) -> Self {
        let transformer =
            |config: &EncryptionConfig| config.transformer_for(&resource.group, &resource.resource);
        let (of_old, of_new) = (transformer(old), transformer(new));
        let old_reads_new = reads(&*of_old, &*of_new);
        let new_reads_old = reads(&*of_new, &*of_old);
        let (old, new) = (Chain::of(old, &resource), Chain::of(new, &resource));
        let has_other_secrets =
            (!old_reads_new && old.has(new.writer())) || (!new_reads_old && new.has(old.writer()));
        Self { resource, old, new, old_reads_new, has_other_secrets, stored }
    }

    pub(super) fn name(&self) -> String {
        self.resource.to_string()
    }

    /// Readers that are no more.
    pub(super) fn removed(&self) -> impl Iterator<Item = &Link> {
        self.old.links().iter().filter(|link| !self.new.has(link))
    }

    /// How many values are stored by a link; none if that is not known.
    pub(super) fn values_of(&self, link: &Link) -> Option<u64> {
        let is_meant = |row: &&CensusRow| {
            let key = row.key_name.as_deref();
            row.provider == link.provider && (link.is_identity() || key == link.key.as_deref())
        };
        self.stored.as_ref().map(|rows| rows.iter().filter(is_meant).map(|row| row.values).sum())
    }

    /// Whether something stored is, or may be, not as the new writer would write it.
    pub(super) fn is_rewritten(&self) -> bool {
        let writer = self.new.writer();
        match &self.stored {
            Some(rows) => {
                let all: u64 = rows.iter().map(|row| row.values).sum();
                // While servers write with the old key, more will come.
                self.values_of(writer).unwrap_or_default() < all || (self.old.writer() != writer && all > 0)
            }
            None => self.old.writer() != writer || self.removed().next().is_some(),
        }
    }
}

/// Whether `reader` opens what `writer` seals. Remote providers, which answer later, count as able to.
fn reads(reader: &dyn Transformer, writer: &dyn Transformer) -> bool {
    let context = ValueContext::new(b"/probe");
    let plain = Bytes::from_static(b"{\"probe\":true}");
    let Ok(sealed) = writer.transform_to_storage(plain.clone(), context).try_now() else { return true };
    let Ok(sealed) = sealed else { return false };
    match reader.transform_from_storage(sealed, context).try_now() {
        Ok(opened) => opened.is_ok_and(|opened| opened.data == plain),
        Err(_) => true,
    }
}
