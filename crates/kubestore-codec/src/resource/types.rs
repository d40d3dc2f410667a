//! What is known of a resource.

use std::{error::Error, fmt};

use kubestore_core::GroupResource;

/// Whether objects are in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "Kubernetes knows these two")]
pub enum ResourceScope {
    /// Every object is in a namespace.
    Namespaced,
    /// Objects belong to the cluster.
    Cluster,
}

/// A resource: its kind, its names, its versions, and where its objects are kept.
///
/// Built-in ones are in [`ResourceTable::builtin`](super::ResourceTable::builtin); custom ones are made by
/// [`custom`](Self::custom), [`from_crd`](Self::from_crd) or [`guess`](Self::guess).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) short_names: Vec<String>,
    pub(super) categories: Vec<String>,
    pub(super) versions: Vec<String>,
    pub(super) storage_version: String,
    pub(super) scope: ResourceScope,
    pub(super) prefix: Option<String>,
    pub(super) fields: Vec<String>,
    pub(super) internal: bool,
    pub(super) custom: bool,
}

/// A description of a custom resource that cannot be one. `Display` names the part and the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidResource {
    part: &'static str,
    text: String,
    rule: &'static str,
}

impl fmt::Display for InvalidResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} of a custom resource: {}", self.part, kubestore_core::quote(&self.text), self.rule)
    }
}

impl Error for InvalidResource {}

impl Resource {
    /// A custom resource.
    ///
    /// ```
    /// use kubestore_codec::{Resource, ResourceScope};
    /// let widgets =
    ///     Resource::custom("shop.example.com", "v1", "Widget", "widgets", ResourceScope::Namespaced)?;
    /// assert_eq!(widgets.key(Some("ns1"), "a").unwrap(), "/shop.example.com/widgets/ns1/a");
    /// # Ok::<(), kubestore_codec::InvalidResource>(())
    /// ```
    ///
    /// # Errors
    /// A group without a dot, an empty version or kind, a plural that is not lower case, or any of them with a
    /// character that has a meaning in keys.
    pub fn custom(
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
        scope: ResourceScope,
    ) -> Result<Self, InvalidResource> {
        let refuse = |part, text: &str, rule| Err(InvalidResource { part, text: text.to_owned(), rule });
        let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !group.contains('.') || group.split('.').any(|part| part.is_empty() || !part.chars().all(lower)) {
            return refuse(
                "group",
                group,
                "it has to be a lower-case domain name with a dot, such as example.com",
            );
        }
        if plural.is_empty() || !plural.chars().all(lower) {
            return refuse("plural", plural, "it has to be lower-case letters, digits and dashes");
        }
        for (part, text) in [("version", version), ("kind", kind)] {
            if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                return refuse(part, text, "it has to be letters, digits and dashes");
            }
        }
        Ok(Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_ascii_lowercase(),
            short_names: Vec::new(),
            categories: Vec::new(),
            versions: vec![version.to_owned()],
            storage_version: version.to_owned(),
            scope,
            prefix: Some(format!("{group}/{plural}")),
            fields: Vec::new(),
            internal: false,
            custom: true,
        })
    }

    /// The custom resource of an object whose definition is not at hand: the plural is guessed from the kind, as
    /// kubectl does.
    ///
    /// # Errors
    /// Those of [`custom`](Self::custom).
    pub fn guess(api_version: &str, kind: &str, scope: ResourceScope) -> Result<Self, InvalidResource> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let singular = kind.to_ascii_lowercase();
        let plural = if singular.ends_with('s') {
            format!("{singular}es")
        } else if let Some(stem) = singular.strip_suffix('y') {
            format!("{stem}ies")
        } else {
            format!("{singular}s")
        };
        Self::custom(group, version, kind, &plural, scope)
    }

    /// The API group, "" for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The kind: `Pod`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The name of the resource: `pods`.
    #[must_use]
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// The name of one: `pod`.
    #[must_use]
    pub fn singular(&self) -> &str {
        &self.singular
    }

    /// Short names: `po`.
    #[must_use]
    pub fn short_names(&self) -> &[String] {
        &self.short_names
    }

    /// Categories: `all`.
    #[must_use]
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// The versions that are served, the best first.
    #[must_use]
    pub fn versions(&self) -> &[String] {
        &self.versions
    }

    /// The version in which an API server stores objects.
    #[must_use]
    pub fn storage_version(&self) -> &str {
        &self.storage_version
    }

    /// The `apiVersion` of stored objects: `v1`, `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.storage_version.clone()
        } else {
            format!("{}/{}", self.group, self.storage_version)
        }
    }

    /// Whether objects are in namespaces.
    #[must_use]
    pub fn scope(&self) -> ResourceScope {
        self.scope
    }

    /// Whether objects are in namespaces.
    #[must_use]
    pub fn is_namespaced(&self) -> bool {
        self.scope == ResourceScope::Namespaced
    }

    /// Whether it comes from a definition and is not built in: such objects are stored as JSON or CBOR, never as
    /// protobuf.
    #[must_use]
    pub fn is_custom(&self) -> bool {
        self.custom
    }

    /// Whether objects are stored at all; reviews, bindings and component statuses are not.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        self.prefix.is_some()
    }

    /// Whether API servers keep it for themselves and do not serve it.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        self.internal
    }

    /// The resource with its group, as messages and metrics name it.
    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        GroupResource::new(self.group.as_str(), self.plural.as_str())
    }

    /// Whether Kubernetes takes this field in a field selector of this resource. The store itself takes every field and
    /// reads unknown ones as empty.
    #[must_use]
    pub fn has_selectable_field(&self, path: &str) -> bool {
        match path {
            "metadata.name" => true,
            // Built-in resources without fields of their own take both.
            "metadata.namespace" => self.is_namespaced() || (self.fields.is_empty() && !self.custom),
            _ => self.fields.iter().any(|field| field == path),
        }
    }

    /// All fields that Kubernetes takes in field selectors of this resource.
    pub fn selectable_fields(&self) -> impl Iterator<Item = &str> {
        let metadata = ["metadata.name", "metadata.namespace"];
        let both = metadata.into_iter().filter(|path| self.has_selectable_field(path));
        both.chain(self.fields.iter().map(String::as_str))
    }
}
