//! Where objects are kept.

use std::{error::Error, fmt, sync::Arc};

use kubestore_core::{GroupResource, quote};

use super::{ResourceTable, types::Resource};

/// An object that has no key. `Display` names the object and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidObjectKey {
    resource: String,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    NotStored,
    NamespaceMissing,
    NamespaceUnexpected(String),
    Name(&'static str, String),
}

impl fmt::Display for InvalidObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = &self.resource;
        match &self.problem {
            Problem::NotStored => write!(f, "{resource} are answered by the API server and not stored"),
            Problem::NamespaceMissing => write!(f, "{resource} are in namespaces: give one"),
            Problem::NamespaceUnexpected(namespace) => {
                write!(f, "{resource} are not in namespaces, but {} was given", quote(namespace))
            }
            Problem::Name(what, text) => {
                let text = quote(text);
                write!(f, "{text} is no {what}: it must not be empty, `.` or `..`, nor contain `/` or `%`")
            }
        }
    }
}

impl Error for InvalidObjectKey {}

impl Resource {
    fn no_key<T>(&self, problem: Problem) -> Result<T, InvalidObjectKey> {
        Err(InvalidObjectKey { resource: self.group_resource().to_string(), problem })
    }

    fn check(&self, what: &'static str, text: &str) -> Result<(), InvalidObjectKey> {
        if text.is_empty() || text == "." || text == ".." || text.contains(['/', '%']) {
            return self.no_key(Problem::Name(what, text.to_owned()));
        }
        Ok(())
    }

    /// The key below which a real API server keeps all objects of this resource, as a store takes it: `/pods`,
    /// `/services/specs`, `/shop.example.com/widgets`. `None` when they are not stored.
    #[must_use]
    pub fn key_prefix(&self) -> Option<String> {
        self.prefix.as_ref().map(|prefix| format!("/{prefix}"))
    }

    /// The key of everything in a namespace, or with `None` of everything: what a recursive list or watch takes.
    ///
    /// # Errors
    /// The resource is not stored or not in namespaces, or the namespace cannot be part of a key.
    pub fn list_key(&self, namespace: Option<&str>) -> Result<String, InvalidObjectKey> {
        let Some(mut key) = self.key_prefix() else { return self.no_key(Problem::NotStored) };
        if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
            if !self.is_namespaced() {
                return self.no_key(Problem::NamespaceUnexpected(namespace.to_owned()));
            }
            self.check("namespace", namespace)?;
            key.push('/');
            key.push_str(namespace);
        }
        Ok(key)
    }

    /// The key of an object, as a store takes it. An empty namespace is none.
    ///
    /// ```
    /// use kubestore_codec::ResourceTable;
    /// let table = ResourceTable::builtin();
    /// let key = |resource: &str, namespace, name| table.by_name(resource).unwrap().key(namespace, name).unwrap();
    /// assert_eq!(key("po", Some("ns1"), "web"), "/pods/ns1/web");
    /// assert_eq!(key("svc", Some("ns1"), "web"), "/services/specs/ns1/web");
    /// assert_eq!(key("no", None, "node1"), "/minions/node1");
    /// ```
    ///
    /// # Errors
    /// The resource is not stored, a namespace is missing or there is one too many, or namespace or name cannot be part
    /// of a key.
    pub fn key(&self, namespace: Option<&str>, name: &str) -> Result<String, InvalidObjectKey> {
        let mut key = self.list_key(namespace)?;
        if self.is_namespaced() && namespace.is_none_or(str::is_empty) {
            return self.no_key(Problem::NamespaceMissing);
        }
        self.check("name", name)?;
        key.push('/');
        key.push_str(name);
        Ok(key)
    }
}

/// What an etcd key stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The resource, if it is known to the table.
    pub resource: Option<Arc<Resource>>,
    /// Its name and group, which follow from the key alone. For an unknown resource without a group the first part of
    /// the key.
    pub group_resource: GroupResource,
    /// The namespace, `None` for objects of the cluster.
    pub namespace: Option<String>,
    /// The name of the object.
    pub name: String,
}

impl ResourceTable {
    /// What is kept at a key. `prefix` is that of the store, `/registry` as a rule.
    ///
    /// Custom resources need not be in the table: group, resource, namespace and name follow from the key.
    /// `None`: a key outside of the prefix, or not of the form that API servers use.
    ///
    /// ```
    /// use kubestore_codec::ResourceTable;
    /// let table = ResourceTable::builtin();
    /// let found = table.locate("/registry", "/registry/services/specs/ns1/web").unwrap();
    /// assert_eq!((found.resource.unwrap().kind(), found.namespace.as_deref()), ("Service", Some("ns1")));
    /// let found = table.locate("/registry", "/registry/shop.example.com/widgets/ns1/a").unwrap();
    /// assert_eq!(found.group_resource.to_string(), "widgets.shop.example.com");
    /// ```
    #[must_use]
    pub fn locate(&self, prefix: &str, key: &str) -> Option<Location> {
        let segments: Vec<&str> = strip_prefix(prefix, key)?.split('/').collect();
        let (resource, group_resource, named_by) = self.resolve(&segments)?;
        let (namespace, name) = match segments[named_by..] {
            [name] => (None, name),
            [namespace, name] => (Some(namespace), name),
            _ => return None,
        };
        let fits = resource.as_ref().is_none_or(|resource| resource.is_namespaced() == namespace.is_some());
        if !fits || name.is_empty() || namespace == Some("") {
            return None;
        }
        Some(Location {
            resource: resource.cloned(),
            group_resource,
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }

    /// The resource that the first segments name, and how many these are.
    fn resolve(&self, segments: &[&str]) -> Option<(Option<&Arc<Resource>>, GroupResource, usize)> {
        let first = *segments.first()?;
        if let Some(resource) = self.by_prefix(first) {
            return Some((Some(resource), resource.group_resource(), 1));
        }
        let second = *segments.get(1)?;
        if let Some(resource) = self.by_prefix(&[first, "/", second].concat()) {
            return Some((Some(resource), resource.group_resource(), 2));
        }
        // Groups of custom resources have a dot, names of resources never do.
        if first.contains('.') {
            return Some((None, GroupResource::new(first, second), 2));
        }
        Some((None, GroupResource::new("", first), 1))
    }
}

fn strip_prefix<'k>(prefix: &str, key: &'k str) -> Option<&'k str> {
    let prefix = prefix.trim_matches('/');
    let key = key.strip_prefix('/').unwrap_or(key);
    if prefix.is_empty() {
        return Some(key);
    }
    key.strip_prefix(prefix)?.strip_prefix('/')
}
