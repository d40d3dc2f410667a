//! Which part of a key space is worked on.

use bytes::Bytes;
use kubestore_codec::{Resource, ResourceTable};
use kubestore_core::PathPrefix;
use kubestore_transform::ResourcePattern;

use crate::{AdminError, ResourceId};

/// The keys to work on: all under a prefix, or those of some resources.
///
/// ```
/// use kubestore_admin::Scope;
/// let all = Scope::new("/registry");
/// let some = Scope::new("/registry").only(["secrets", "cm", "*.apps", "widgets.shop.example.com"])?;
/// assert_eq!(some.to_string(), "/registry/ (secrets, configmaps, *.apps, widgets.shop.example.com)");
/// # Ok::<(), kubestore_admin::AdminError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scope {
    prefix: PathPrefix,
    /// None is everything.
    only: Option<Vec<Wanted>>,
}

#[derive(Clone, Debug)]
enum Wanted {
    Pattern(ResourcePattern),
    Path(String),
}

impl Scope {
    /// Everything under a path, `/registry` as a rule: an API server's `--etcd-prefix`.
    #[must_use]
    pub fn new(prefix: &str) -> Self {
        Self { prefix: PathPrefix::new(prefix), only: None }
    }

    /// Only these resources, by any name that kubectl takes (`secrets`, `cm`, `deployments.apps`), as patterns of an
    /// encryption configuration (`*.apps`, `*.`, `*.*`), or by the first part of the path (`/foos`). None is nothing
    /// less than all.
    ///
    /// # Errors
    /// A name without a group that no resource of Kubernetes has.
    pub fn only<'a>(mut self, resources: impl IntoIterator<Item = &'a str>) -> Result<Self, AdminError> {
        let wanted = resources.into_iter().map(Wanted::parse).collect::<Result<Vec<_>, _>>()?;
        self.only = (!wanted.is_empty()).then_some(wanted);
        Ok(self)
    }

    /// The path, which starts and ends with a slash.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.prefix.as_str()
    }

    pub(crate) fn contains(&self, id: &ResourceId) -> bool {
        self.only.as_ref().is_none_or(|wanted| wanted.iter().any(|wanted| wanted.takes(id)))
    }

    /// The prefixes of all keys that may be wanted, in order, none within another.
    pub(crate) fn key_prefixes(&self) -> Vec<Bytes> {
        let root = self.prefix();
        let all = || vec![Bytes::copy_from_slice(root.as_bytes())];
        let Some(wanted) = &self.only else { return all() };
        let below: Option<Vec<_>> = wanted.iter().map(Wanted::key_prefix).collect();
        let Some(below) = below else { return all() };
        let mut prefixes: Vec<_> =
            below.iter().map(|path| Bytes::from([root, path.trim_matches('/'), "/"].concat())).collect();
        prefixes.sort_unstable();
        // One that lies within another comes right behind it or behind others that do.
        prefixes.dedup_by(|inner, outer| inner.starts_with(outer));
        prefixes
    }
}

impl From<&str> for Scope {
    fn from(prefix: &str) -> Self {
        Self::new(prefix)
    }
}

impl From<&Self> for Scope {
    fn from(scope: &Self) -> Self {
        scope.clone()
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.prefix())?;
        for (number, wanted) in self.only.iter().flatten().enumerate() {
            f.write_str(if number == 0 { " (" } else { ", " })?;
            match wanted {
                Wanted::Pattern(pattern) => write!(f, "{pattern}")?,
                Wanted::Path(path) => write!(f, "/{path}")?,
            }
        }
        f.write_str(if self.only.is_some() { ")" } else { "" })
    }
}

impl Wanted {
    fn parse(text: &str) -> Result<Self, AdminError> {
        if let Some(path) = text.strip_prefix('/') {
            return Ok(Self::Path(path.trim_end_matches('/').to_owned()));
        }
        let pattern = ResourcePattern::parse(text);
        if pattern.resource == "*" {
            return Ok(Self::Pattern(pattern));
        }
        match ResourceTable::builtin().by_name(text) {
            Some(found) => Ok(Self::Pattern(stored_as(found))),
            None if pattern.group.is_empty() => Err(AdminError::UnknownResource { name: text.to_owned() }),
            None => Ok(Self::Pattern(pattern)),
        }
    }

    fn takes(&self, id: &ResourceId) -> bool {
        match (self, id) {
            (Self::Pattern(pattern), ResourceId::Known(known)) => {
                pattern.matches(&known.group, &known.resource)
            }
            (Self::Pattern(pattern), ResourceId::Path(_)) => pattern.is_everything(),
            (Self::Path(path), ResourceId::Path(found)) => path == found,
            (Self::Path(_), ResourceId::Known(_)) => false,
        }
    }

    /// Where the keys are, if they have one place.
    fn key_prefix(&self) -> Option<String> {
        let pattern = match self {
            Self::Path(path) => return Some(path.clone()),
            Self::Pattern(pattern) if pattern.resource == "*" => return None,
            Self::Pattern(pattern) => pattern,
        };
        let named = pattern.to_string();
        let builtin = ResourceTable::builtin().by_group_resource(&named.as_str().into());
        builtin.map_or_else(
            || Some(format!("{}/{}", pattern.group, pattern.resource)),
            |resource| resource.key_prefix(),
        )
    }
}

/// The resource that keys say: events are kept in the core group, whatever group they are asked for in.
fn stored_as(resource: &Resource) -> ResourcePattern {
    let place = resource.key_prefix().and_then(|below| {
        let key = below + if resource.is_namespaced() { "/namespace/name" } else { "/name" };
        ResourceTable::builtin().locate("", &key)
    });
    let stored = place.map_or_else(|| resource.group_resource(), |found| found.group_resource);
    ResourcePattern::parse(&stored.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(only: &[&str]) -> Vec<String> {
        let scope = Scope::new("registry").only(only.iter().copied()).unwrap();
        let text = |prefix: &Bytes| String::from_utf8(prefix.to_vec()).unwrap();
        scope.key_prefixes().iter().map(text).collect()
    }

    #[test]
    fn only_the_keys_that_may_be_wanted_are_read() {
        assert_eq!(prefixes(&[]), ["/registry/"]);
        assert_eq!(prefixes(&["secret"]), ["/registry/secrets/"]);
        assert_eq!(prefixes(&["svc", "cm"]), ["/registry/configmaps/", "/registry/services/specs/"]);
        assert_eq!(prefixes(&["/services", "svc"]), ["/registry/services/"]);
        assert_eq!(prefixes(&["widgets.shop.example.com"]), ["/registry/shop.example.com/widgets/"]);
        assert_eq!(prefixes(&["secrets", "*.apps"]), ["/registry/"]);
    }

    #[test]
    fn resources_are_wanted_by_name_pattern_or_path() {
        let scope = |only: &str| Scope::new("/registry").only([only]).unwrap();
        for (only, id, wanted) in [
            ("po", "pods", true),
            ("deploy", "deployments.apps", true),
            ("*.apps", "deployments.apps", true),
            ("*.apps", "pods", false),
            ("*.", "pods", true),
            ("*.*", "/foos", true),
            ("/foos", "/foos", true),
            ("/foos", "foos.example.com", false),
            ("events.events.k8s.io", "events", true),
        ] {
            assert_eq!(scope(only).contains(&ResourceId::parse(id)), wanted, "{only} and {id}");
        }
        let unknown = Scope::new("/registry").only(["secretz"]).unwrap_err();
        assert!(unknown.to_string().starts_with("unknown resource \"secretz\""), "{unknown}");
    }
}
