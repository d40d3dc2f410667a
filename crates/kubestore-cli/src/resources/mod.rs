//! Resources: which there are, how they are called, and where their objects are kept.

mod builtin;
mod catalog;
mod custom;
mod fields;
mod names;
mod target;

use std::borrow::Cow;

use anyhow::{Result, bail};
use kubestore::core::GroupResource;

use crate::output::Column;

pub(crate) use catalog::Catalog;
pub(crate) use fields::check_fields;
pub(crate) use names::{check_name, check_namespace};
pub(crate) use target::{Target, targets};

/// A kind of objects and the place where they are kept.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    group: String,
    kind: String,
    plural: String,
    singular: String,
    short_names: Vec<String>,
    namespaced: bool,
    /// The key below which all objects are, without the store's prefix: `/pods`.
    key_prefix: String,
    columns: Cow<'static, [Column]>,
    /// What field selectors may name besides name and namespace.
    fields: Cow<'static, [&'static str]>,
    /// The same, of a custom resource.
    custom_fields: Vec<String>,
    /// The versions that objects may be written in; the one they are kept in comes first.
    versions: Vec<String>,
    is_custom: bool,
}

impl Resource {
    /// `pods`, `deployments.apps`.
    pub(crate) fn full_name(&self) -> String {
        self.group_resource().to_string()
    }

    pub(crate) fn group_resource(&self) -> GroupResource {
        GroupResource::new(&self.group, &self.plural)
    }

    /// `pod/a`, `deployment.apps/web`.
    pub(crate) fn object_name(&self, name: &str) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        format!("{}{dot}{}/{name}", self.singular, self.group)
    }

    pub(crate) fn group(&self) -> &str {
        &self.group
    }

    pub(crate) fn plural(&self) -> &str {
        &self.plural
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// Whether `word`, in lower case, is one of its names.
    fn is_called(&self, word: &str) -> bool {
        self.plural == word
            || self.singular == word
            || self.kind.to_lowercase() == word
            || self.short_names.iter().any(|name| name == word)
    }

    /// Refuses a version that the resource does not have.
    fn check_version(&self, version: &str) -> Result<()> {
        if !self.versions.iter().any(|known| known == version) {
            let name = self.full_name();
            bail!("{name} have no version {version:?}; there are: {}", self.versions.join(", "));
        }
        Ok(())
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The key of an object, without the store's prefix.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        let prefix = &self.key_prefix;
        if self.namespaced { format!("{prefix}/{namespace}/{name}") } else { format!("{prefix}/{name}") }
    }

    /// The key below which the objects of a namespace are, or all of them.
    pub(crate) fn list_key(&self, namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) if self.namespaced => format!("{}/{namespace}", self.key_prefix),
            _ => self.key_prefix.clone(),
        }
    }

    /// Where an object is, for messages: `in namespace "default"` or nothing.
    pub(crate) fn place(&self, namespace: &str) -> String {
        if self.namespaced { format!(" in namespace {namespace:?}") } else { String::new() }
    }

    /// Whether the API server counts the generations of its objects' specifications.
    pub(crate) fn has_generation(&self) -> bool {
        match (self.group.as_str(), self.plural.as_str()) {
            ("apps", plural) => plural != "controllerrevisions",
            ("networking.k8s.io", plural) => {
                matches!(plural, "ingresses" | "ingressclasses" | "networkpolicies")
            }
            (
                "batch"
                | "policy"
                | "admissionregistration.k8s.io"
                | "apiextensions.k8s.io"
                | "flowcontrol.apiserver.k8s.io",
                _,
            ) => true,
            _ => self.is_custom,
        }
    }
}
