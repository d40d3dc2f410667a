//! The name of a resource.

use std::fmt;

/// A resource and the API group it is in, as in `deployments.apps`.
///
/// `Display` is `resource.group`, or the resource alone in the core group: what Kubernetes' messages and metrics show.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a group and a resource are what the name says")]
pub struct GroupResource {
    /// "" for the core group.
    pub group: String,
    /// Plural, lower case.
    pub resource: String,
}

impl GroupResource {
    /// `resource` in `group`.
    #[must_use]
    pub fn new(group: impl Into<String>, resource: impl Into<String>) -> Self {
        Self { group: group.into(), resource: resource.into() }
    }
}

/// Splits at the first dot: `deployments.apps`, `widgets.shop.example.com`, `pods`.
impl From<&str> for GroupResource {
    fn from(text: &str) -> Self {
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        Self::new(group, resource)
    }
}

impl fmt::Display for GroupResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}
