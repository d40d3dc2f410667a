//! Resources: which there are, how they are called, and where their objects are kept.

mod catalog;
mod discovered;
mod fields;
mod names;
mod printer_columns;
mod target;

use std::{borrow::Cow, sync::Arc};

use anyhow::{Result, bail};
use kubestore::{codec, core::GroupResource};

use crate::output::{Column, DEFAULT, columns_of};

pub(crate) use catalog::Catalog;
pub(crate) use fields::check_fields;
pub(crate) use names::{check_name, check_namespace, check_new_name};
pub(crate) use target::{Target, targets};

/// A resource, and how its objects are shown.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    inner: Arc<codec::Resource>,
    columns: Cow<'static, [Column]>,
    /// The key below which its objects are, if `inner` does not know.
    place: Option<String>,
}

impl Resource {
    /// A resource of Kubernetes.
    fn builtin(inner: &Arc<codec::Resource>) -> Self {
        let columns = columns_of(inner.group(), inner.plural()).unwrap_or(DEFAULT);
        Self { inner: Arc::clone(inner), columns: Cow::Borrowed(columns), place: None }
    }

    /// `pods`, `deployments.apps`.
    pub(crate) fn full_name(&self) -> String {
        self.group_resource().to_string()
    }

    pub(crate) fn group_resource(&self) -> GroupResource {
        self.inner.group_resource()
    }

    /// `pod/a`, `deployment.apps/web`.
    pub(crate) fn object_name(&self, name: &str) -> String {
        let group = self.inner.group();
        let dot = if group.is_empty() { "" } else { "." };
        format!("{}{dot}{group}/{name}", self.inner.singular())
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.inner.is_namespaced()
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The key of an object, without the store's prefix.
    ///
    /// # Errors
    /// Namespace or name cannot be part of a key.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> Result<String> {
        Ok(self.placed(self.inner.key(self.is_namespaced().then_some(namespace), name)?))
    }

    /// The key below which the objects of a namespace are, or all of them.
    ///
    /// # Errors
    /// The namespace cannot be part of a key.
    pub(crate) fn list_key(&self, namespace: Option<&str>) -> Result<String> {
        Ok(self.placed(self.inner.list_key(namespace.filter(|_| self.is_namespaced()))?))
    }

    /// A key of `inner` where the objects really are.
    fn placed(&self, key: String) -> String {
        match (&self.place, self.inner.key_prefix()) {
            (Some(place), Some(prefix)) => {
                format!("{place}{}", key.strip_prefix(prefix.as_str()).unwrap_or(&key))
            }
            _ => key,
        }
    }

    /// Where an object is, for messages: `in namespace "default"` or nothing.
    pub(crate) fn place(&self, namespace: &str) -> String {
        if self.is_namespaced() { format!(" in namespace {namespace:?}") } else { String::new() }
    }

    /// Whether the API server counts the generations of its objects' specifications.
    pub(crate) fn has_generation(&self) -> bool {
        let plural = self.inner.plural();
        match self.inner.group() {
            "apps" => plural != "controllerrevisions",
            "networking.k8s.io" => matches!(plural, "ingresses" | "ingressclasses" | "networkpolicies"),
            "admissionregistration.k8s.io"
            | "apiextensions.k8s.io"
            | "batch"
            | "flowcontrol.apiserver.k8s.io"
            | "policy" => true,
            _ => self.inner.is_custom(),
        }
    }

    /// Refuses a version that the resource does not have.
    fn check_version(&self, version: &str) -> Result<()> {
        let versions = self.inner.versions();
        if version != self.inner.storage_version() && !versions.iter().any(|known| known == version) {
            bail!("{} have no version {version:?}; there are: {}", self.full_name(), versions.join(", "));
        }
        Ok(())
    }
}
