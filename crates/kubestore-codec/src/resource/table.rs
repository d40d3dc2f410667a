//! The table and its look-ups.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use kubestore_core::GroupResource;

use super::{builtin::GROUPS, types::Resource};

/// Resources by name, by kind, and by where they are kept.
///
/// [`builtin`](Self::builtin) has those of Kubernetes 1.36, the pod security policies of older clusters, and what API
/// servers keep for themselves. A copy of it can take custom resources.
#[derive(Clone, Debug, Default)]
pub struct ResourceTable {
    resources: Vec<Arc<Resource>>,
    by_prefix: HashMap<String, usize>,
}

static BUILTIN: LazyLock<ResourceTable> = LazyLock::new(|| {
    let mut table = ResourceTable::default();
    for (group, rows) in GROUPS {
        for row in *rows {
            table.insert(row.resource(group));
        }
    }
    table
});

impl ResourceTable {
    /// The built-in resources.
    #[must_use]
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// Adds a resource, or replaces the one of its group and name.
    pub fn insert(&mut self, resource: Resource) -> Arc<Resource> {
        let resource = Arc::new(resource);
        let is_same =
            |other: &Arc<Resource>| other.group() == resource.group() && other.plural() == resource.plural();
        let at = self.resources.iter().position(is_same).unwrap_or(self.resources.len());
        if at == self.resources.len() {
            self.resources.push(Arc::clone(&resource));
        } else {
            self.resources[at] = Arc::clone(&resource);
        }
        if let Some(prefix) = &resource.prefix {
            // Events of both groups are kept in one place, as those of the core group.
            self.by_prefix.entry(prefix.clone()).or_insert(at);
        }
        resource
    }

    /// All resources in the order in which names are looked up.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.iter()
    }

    /// The resource of a kind. The version may be one that is not served, old or new: see
    /// [`versions`](Resource::versions).
    #[must_use]
    pub fn by_kind(&self, api_version: &str, kind: &str) -> Option<&Arc<Resource>> {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        self.iter().find(|resource| resource.kind() == kind && resource.group() == group)
    }

    /// The resource of that name in that group.
    #[must_use]
    pub fn by_group_resource(&self, name: &GroupResource) -> Option<&Arc<Resource>> {
        self.iter().find(|resource| resource.plural() == name.resource && resource.group() == name.group)
    }

    /// The resources of a category, such as `all`.
    pub fn category(&self, category: &str) -> impl Iterator<Item = &Arc<Resource>> {
        self.iter().filter(move |resource| resource.categories().iter().any(|other| other == category))
    }

    pub(super) fn by_prefix(&self, prefix: &str) -> Option<&Arc<Resource>> {
        self.by_prefix.get(prefix).and_then(|at| self.resources.get(*at))
    }
}
