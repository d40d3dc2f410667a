//! Finding resources by what people call them.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use kubestore::{
    Storage, Stores,
    codec::Map,
    core::{ListOptions, ListPart},
};

use super::{Resource, builtin, custom};

const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";
const DEFINITIONS_KEY: &str = "/apiextensions.k8s.io/customresourcedefinitions";

/// The kinds of Kubernetes, and those that are defined in the store. The store is read when such a one is looked for.
pub(crate) struct Catalog {
    stores: Stores,
    /// Defined by the input of this command.
    learned: Vec<Arc<Resource>>,
    /// Defined in the store, once it was read.
    stored: Option<Vec<Arc<Resource>>>,
}

impl Catalog {
    pub(crate) fn new(stores: Stores) -> Self {
        Self { stores, learned: Vec::new(), stored: None }
    }

    /// Takes note of a `CustomResourceDefinition` that is about to be stored.
    ///
    /// # Errors
    /// It does not define anything.
    pub(crate) fn learn(&mut self, definition: &Map) -> Result<()> {
        self.learned.push(Arc::new(custom::from_definition(definition)?));
        Ok(())
    }

    /// The resource that is called `name`: plural, singular, kind or short name, perhaps with a dot and its group, or with
    /// version and group.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub(crate) async fn by_name(&mut self, name: &str) -> Result<Arc<Resource>> {
        let lower = name.to_lowercase();
        if let Some(found) = builtin::by_name(&lower) {
            return Ok(Arc::new(found));
        }
        let (word, group) = lower.split_once('.').unwrap_or((&lower, ""));
        let is_meant = |resource: &Resource| resource.is_called(word) && is_group(group, resource.group());
        let found = self.custom(is_meant).await.with_context(|| format!("looking for resource {name:?}"))?;
        match found.as_slice() {
            [one] => Ok(Arc::clone(one)),
            [] => bail!(
                "unknown resource {name:?}: Kubernetes has none of this name, and no CustomResourceDefinition below {} \
                 defines it; apply its definition first",
                self.stores.prefix().as_str()
            ),
            several => {
                let names: Vec<_> = several.iter().map(|resource| resource.full_name()).collect();
                bail!("resource {name:?} may be {}; write one of these", names.join(" or "))
            }
        }
    }

    /// The resource of objects of this kind.
    ///
    /// # Errors
    /// There is none.
    pub(crate) async fn by_kind(&mut self, api_version: &str, kind: &str) -> Result<Arc<Resource>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        if let Some(found) = builtin::by_kind(group, version, kind)? {
            return Ok(Arc::new(found));
        }
        let is_meant = |resource: &Resource| resource.kind == kind && resource.group() == group;
        let found = self.custom(is_meant).await.with_context(|| format!("looking for kind {kind}"))?;
        let Some(found) = found.into_iter().next() else {
            bail!(
                "unknown kind {kind} of {api_version}: Kubernetes has none of this name, and no CustomResourceDefinition \
                 below {} defines it; apply its definition first",
                self.stores.prefix().as_str()
            );
        };
        found.check_version(version)?;
        Ok(found)
    }

    /// The defined resources that `is_meant`; those of the input come before those of the store.
    async fn custom(&mut self, is_meant: impl Fn(&Resource) -> bool) -> Result<Vec<Arc<Resource>>> {
        let matching = |all: &[Arc<Resource>]| -> Vec<_> {
            all.iter().filter(|resource| is_meant(resource)).cloned().collect()
        };
        let learned = matching(&self.learned);
        if !learned.is_empty() {
            return Ok(learned);
        }
        let stored = match self.stored.take() {
            Some(stored) => stored,
            None => self.read_definitions().await?,
        };
        Ok(matching(self.stored.insert(stored)))
    }

    async fn read_definitions(&self) -> Result<Vec<Arc<Resource>>> {
        let store = self.stores.unstructured(DEFINITIONS);
        let mut parts = store.list_stream(DEFINITIONS_KEY, ListOptions::recursive());
        let mut found = Vec::new();
        while let Some(part) = parts.next().await {
            let ListPart::Items(items) = part? else { continue };
            for definition in items {
                match custom::from_definition(&definition) {
                    Ok(resource) => found.push(Arc::new(resource)),
                    Err(error) => {
                        tracing::warn!(name = definition.name(), %error, "a definition is left out")
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Whether what stands after the resource's name is its group, or a version and its group.
fn is_group(written: &str, group: &str) -> bool {
    let without_version = written.split_once('.').filter(|(version, _)| is_version(version));
    written.is_empty() || written == group || without_version.is_some_and(|(_, rest)| rest == group)
}

/// `v1`, `v1beta2`.
pub(super) fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix('v').unwrap_or_default();
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
