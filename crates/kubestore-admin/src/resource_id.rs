//! Whose a key is.

use std::{borrow::Cow, fmt};

use kubestore_core::GroupResource;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The resource that a stored key belongs to.
///
/// As text, and so in JSON: `secrets`, `deployments.apps`, or `/path` for keys that are not of a known form.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceId {
    /// A resource of Kubernetes, or a custom one, whose group is in its keys.
    Known(GroupResource),
    /// Keys of which the group cannot be told: the first part of their path.
    Path(String),
}

impl ResourceId {
    /// Reads the text form.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.strip_prefix('/') {
            Some(path) => Self::Path(path.to_owned()),
            None => Self::Known(GroupResource::from(text)),
        }
    }

    /// The resource, if it is known.
    #[must_use]
    pub fn group_resource(&self) -> Option<&GroupResource> {
        match self {
            Self::Known(known) => Some(known),
            Self::Path(_) => None,
        }
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(known) => known.fmt(f),
            Self::Path(path) => write!(f, "/{path}"),
        }
    }
}

impl Serialize for ResourceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ResourceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer).map(|text| Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["secrets", "deployments.apps", "widgets.shop.example.com", "/foos", "/"] {
            assert_eq!(ResourceId::parse(text).to_string(), text);
        }
        assert_eq!(ResourceId::parse("/foos").group_resource(), None);
    }
}
