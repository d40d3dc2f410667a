//! From keys to resources.

use std::collections::HashSet;

use kubestore_codec::{Location, ResourceTable};

use crate::ResourceId;

/// How many different paths without a known resource are told apart, so that memory stays bounded whatever is stored.
const MOST_PATHS: usize = 1000;
/// What all others are called.
const OTHER_PATHS: &str = "...";

/// Names the resources of keys under one prefix.
#[derive(Debug)]
pub(crate) struct KeyMap {
    prefix: String,
    paths: HashSet<String>,
}

/// A resource, and whether API servers keep it for themselves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    pub(crate) id: ResourceId,
    /// Port ranges and the leases of servers, which no encryption configuration applies to.
    pub(crate) internal: bool,
}

impl KeyMap {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), paths: HashSet::new() }
    }

    pub(crate) fn owner(&mut self, key: &[u8]) -> Owner {
        let located = std::str::from_utf8(key).ok().and_then(|key| located(&self.prefix, key));
        located.unwrap_or_else(|| Owner { id: ResourceId::Path(self.path(key)), internal: false })
    }

    /// The first part of the path.
    fn path(&mut self, key: &[u8]) -> String {
        let key = String::from_utf8_lossy(key);
        let rest = key.strip_prefix(self.prefix.as_str()).unwrap_or(&key);
        let first = rest.trim_start_matches('/').split('/').next().unwrap_or_default();
        if self.paths.contains(first) {
            return first.to_owned();
        }
        if self.paths.len() >= MOST_PATHS {
            return OTHER_PATHS.to_owned();
        }
        self.paths.insert(first.to_owned());
        first.to_owned()
    }
}

fn located(prefix: &str, key: &str) -> Option<Owner> {
    let Location { resource, group_resource, .. } = ResourceTable::builtin().locate(prefix, key)?;
    // Without a group in the key, and not built in, it may be of any group.
    let known = resource.is_some() || !group_resource.group.is_empty();
    let internal = resource.is_some_and(|resource| resource.is_internal());
    known.then_some(Owner { id: ResourceId::Known(group_resource), internal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_owners() {
        let mut map = KeyMap::new("/registry/");
        for (key, owner, internal) in [
            ("/registry/secrets/default/db", "secrets", false),
            ("/registry/services/specs/default/web", "services", false),
            ("/registry/deployments/default/web", "deployments.apps", false),
            ("/registry/minions/node1", "nodes", false),
            ("/registry/ranges/servicenodeports", "ranges", true),
            ("/registry/masterleases/10.0.0.1", "masterleases", true),
            ("/registry/shop.example.com/widgets/default/w1", "widgets.shop.example.com", false),
            (
                "/registry/apiregistration.k8s.io/apiservices/v1.apps",
                "apiservices.apiregistration.k8s.io",
                false,
            ),
            ("/registry/foos/default/a", "/foos", false),
            ("/registry/a", "/a", false),
            ("/registry/secrets/a/b/c/d", "/secrets", false),
        ] {
            let found = map.owner(key.as_bytes());
            assert_eq!((found.id.to_string().as_str(), found.internal), (owner, internal), "{key}");
        }
        assert_eq!(map.owner(b"/registry/\xff\xfe/x").id.to_string(), "/\u{fffd}\u{fffd}");
    }

    #[test]
    fn strange_paths_do_not_fill_the_memory() {
        let mut map = KeyMap::new("/registry/");
        for number in 0..2 * MOST_PATHS {
            map.owner(format!("/registry/{number}").as_bytes());
        }
        assert_eq!(map.paths.len(), MOST_PATHS);
        assert_eq!(map.owner(b"/registry/7").id.to_string(), "/7");
        assert_eq!(map.owner(b"/registry/1999").id.to_string(), "/...");
    }
}
