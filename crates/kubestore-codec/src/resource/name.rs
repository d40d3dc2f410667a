//! Names as users type them.

use std::sync::Arc;

use super::{ResourceTable, types::Resource};

impl ResourceTable {
    /// The resource that kubectl would take this name for: plural, singular, short name or kind, whatever the case, with
    /// or without version and group: `po`, `pods`, `Pod`, `deploy`, `deployments.apps`, `deployments.v1.apps`,
    /// `ingresses.networking`.
    ///
    /// Of several resources with that name the core group's wins, then the order of the table.
    ///
    /// ```
    /// use kubestore_codec::ResourceTable;
    /// let table = ResourceTable::builtin();
    /// assert_eq!(table.by_name("ev").unwrap().group(), "");
    /// assert_eq!(table.by_name("events.events.k8s.io").unwrap().group(), "events.k8s.io");
    /// assert_eq!(table.by_name("cabbages"), None);
    /// ```
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&Arc<Resource>> {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let first = first.to_ascii_lowercase();
        // `deployments.v1.apps` may be a version and a group, or a group with a dot.
        if let Some((version, group)) = rest.split_once('.')
            && let Some(found) = self.find_name(&first, |resource| {
                resource.group() == group && resource.versions().iter().any(|served| served == version)
            })
        {
            return Some(found);
        }
        self.find_name(&first, |resource| rest.is_empty() || resource.group() == rest)
            .or_else(|| self.find_name(&first, |resource| resource.group().starts_with(rest)))
            .or_else(|| {
                // The core group has no name to write after the version: `pods.v1`.
                self.find_name(&first, |resource| {
                    resource.group().is_empty() && resource.versions().iter().any(|served| served == rest)
                })
            })
    }

    /// `name` is in lower case. Full names come before short ones.
    fn find_name(&self, name: &str, group_fits: impl Fn(&Resource) -> bool) -> Option<&Arc<Resource>> {
        let full = self.iter().find(|resource| {
            group_fits(resource) && (resource.plural() == name || resource.singular() == name)
        });
        full.or_else(|| {
            self.iter().find(|resource| {
                group_fits(resource) && resource.short_names().iter().any(|short| short == name)
            })
        })
        .or_else(|| {
            self.iter().find(|resource| group_fits(resource) && resource.kind().eq_ignore_ascii_case(name))
        })
    }
}
