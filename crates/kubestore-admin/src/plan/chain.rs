//! The providers of a resource as a list of names.

use std::fmt;

use kubestore_transform::{EncryptionConfig, ResourcePattern};

use super::ProviderOrder;

/// A key of a provider, or identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) provider: String,
    /// None is identity.
    pub(super) key: Option<String>,
}

/// What reads the values of a resource, in order; the first writes. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain(Vec<Link>);

impl Link {
    pub(super) fn identity() -> Self {
        Self { provider: "identity".to_owned(), key: None }
    }

    pub(super) fn is_identity(&self) -> bool {
        self.key.is_none()
    }
}

impl Chain {
    pub(super) fn of(config: &EncryptionConfig, resource: &ResourcePattern) -> Self {
        let mut links = Vec::new();
        for provider in config.providers_for(&resource.group, &resource.resource) {
            let name = provider.name();
            let keys = provider.key_names();
            if keys.is_empty() {
                links.push(Link::identity());
            }
            links.extend(
                keys.iter().map(|key| Link { provider: name.to_owned(), key: Some((*key).to_owned()) }),
            );
        }
        if links.is_empty() {
            links.push(Link::identity());
        }
        Self(links)
    }

    pub(super) fn writer(&self) -> &Link {
        &self.0[0]
    }

    pub(super) fn links(&self) -> &[Link] {
        &self.0
    }

    pub(super) fn has(&self, link: &Link) -> bool {
        self.0.contains(link)
    }

    /// With `link` as a reader, behind the writer or, if it is of another provider, behind all keys of the writer's.
    pub(super) fn with_behind_writer(&self, link: &Link) -> Self {
        let mut links = self.0.clone();
        if !links.contains(link) {
            let of_writer = links.iter().take_while(|other| other.provider == links[0].provider).count();
            let place = if link.provider == links[0].provider { 1 } else { of_writer };
            links.insert(place, link.clone());
        }
        Self(links)
    }

    /// With what of `other` is not there yet, identity last.
    pub(super) fn followed_by(&self, other: &Self) -> Self {
        let mut links = self.0.clone();
        links.extend(other.0.iter().filter(|link| !self.has(link)).cloned());
        links[1..].sort_by_key(Link::is_identity);
        Self(links)
    }

    pub(super) fn order(&self, resource: &ResourcePattern) -> ProviderOrder {
        let providers = self.0.iter().map(ToString::to_string).collect();
        ProviderOrder { resources: vec![resource.to_string()], providers }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.provider)?;
        match &self.key {
            Some(key) => write!(f, ":{key}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(text: &str) -> Chain {
        let link = |text: &str| match text.split_once(':') {
            Some((provider, key)) => Link { provider: provider.to_owned(), key: Some(key.to_owned()) },
            None => Link::identity(),
        };
        Chain(text.split(' ').map(link).collect())
    }

    #[test]
    fn a_key_is_added_next_to_those_of_its_provider() {
        for (old, new, both) in [
            ("a:1 a:0 identity", "a:2", "a:1 a:2 a:0 identity"),
            ("a:1 a:0 identity", "b:2", "a:1 a:0 b:2 identity"),
            ("identity", "a:1", "identity a:1"),
            ("a:1 a:2", "a:2", "a:1 a:2"),
        ] {
            assert_eq!(chain(old).with_behind_writer(chain(new).writer()), chain(both), "{old} and {new}");
        }
    }

    #[test]
    fn what_is_left_of_the_old_ones_comes_last_and_identity_behind_it() {
        assert_eq!(chain("a:2").followed_by(&chain("a:1 identity")), chain("a:2 a:1 identity"));
        assert_eq!(chain("a:2 identity").followed_by(&chain("a:1")), chain("a:2 a:1 identity"));
        assert_eq!(chain("identity").followed_by(&chain("a:1")), chain("identity a:1"));
    }
}
