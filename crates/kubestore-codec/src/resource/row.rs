//! How the table of built-in resources is written down.

use super::types::{Resource, ResourceScope};

/// A line of the table.
#[derive(Clone, Copy)]
pub(super) struct Row {
    kind: &'static str,
    plural: &'static str,
    namespaced: bool,
    short_names: &'static [&'static str],
    category: Option<&'static str>,
    versions: &'static [&'static str],
    storage_version: Option<&'static str>,
    kept: Kept,
    fields: &'static [&'static str],
}

/// Where the objects are.
#[derive(Clone, Copy)]
enum Kept {
    /// Under the plural.
    Plural,
    /// Under a name from earlier times.
    Under(&'static str),
    /// Under the group and the plural, as custom resources.
    Group,
    /// Nowhere: the API server answers and forgets.
    Nowhere,
    /// Under the plural, by the API server itself: not part of the API.
    Internal,
}

const CLUSTER: Row = Row {
    kind: "",
    plural: "",
    namespaced: false,
    short_names: &[],
    category: None,
    versions: &["v1"],
    storage_version: None,
    kept: Kept::Plural,
    fields: &[],
};

pub(super) const fn cluster(kind: &'static str, plural: &'static str) -> Row {
    Row { kind, plural, ..CLUSTER }
}

pub(super) const fn namespaced(kind: &'static str, plural: &'static str) -> Row {
    Row { kind, plural, namespaced: true, ..CLUSTER }
}

impl Row {
    /// Short names.
    pub(super) const fn short(self, short_names: &'static [&'static str]) -> Self {
        Self { short_names, ..self }
    }

    /// In the category `all`.
    pub(super) const fn all(self) -> Self {
        Self { category: Some("all"), ..self }
    }

    /// In the category `api-extensions`.
    pub(super) const fn api_extension(self) -> Self {
        Self { category: Some("api-extensions"), ..self }
    }

    /// Served in these versions, not in `v1` alone; the best comes first and is stored.
    pub(super) const fn versions(self, versions: &'static [&'static str]) -> Self {
        Self { versions, ..self }
    }

    /// Stored in this version and not in the best one.
    pub(super) const fn stored(self, version: &'static str) -> Self {
        Self { storage_version: Some(version), ..self }
    }

    pub(super) const fn under(self, prefix: &'static str) -> Self {
        Self { kept: Kept::Under(prefix), ..self }
    }

    pub(super) const fn under_group(self) -> Self {
        Self { kept: Kept::Group, ..self }
    }

    pub(super) const fn nowhere(self) -> Self {
        Self { kept: Kept::Nowhere, ..self }
    }

    pub(super) const fn internal(self) -> Self {
        Self { kept: Kept::Internal, ..self }
    }

    /// What field selectors may name besides name and namespace.
    pub(super) const fn fields(self, fields: &'static [&'static str]) -> Self {
        Self { fields, ..self }
    }

    pub(super) fn resource(&self, group: &str) -> Resource {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Resource {
            group: group.to_owned(),
            kind: self.kind.to_owned(),
            plural: self.plural.to_owned(),
            singular: self.kind.to_ascii_lowercase(),
            short_names: owned(self.short_names),
            categories: owned(self.category.as_slice()),
            versions: owned(self.versions),
            storage_version: self.storage_version.unwrap_or(self.versions[0]).to_owned(),
            scope: if self.namespaced { ResourceScope::Namespaced } else { ResourceScope::Cluster },
            prefix: match self.kept {
                Kept::Plural | Kept::Internal => Some(self.plural.to_owned()),
                Kept::Under(prefix) => Some(prefix.to_owned()),
                Kept::Group => Some(format!("{group}/{}", self.plural)),
                Kept::Nowhere => None,
            },
            fields: owned(self.fields),
            internal: matches!(self.kept, Kept::Internal),
            custom: false,
        }
    }
}
