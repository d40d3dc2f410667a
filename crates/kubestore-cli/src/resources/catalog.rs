//! Finding resources by what people call them.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use kubestore::{
    Storage, Stores,
    codec::{self, ResourceTable, Unstructured, UnstructuredVersioner},
    core::{GroupResource, ListOptions, ListPart},
};

use super::{Resource, discovered, printer_columns};
use crate::{
    object::{ObjectCodec, Opener},
    output::{Column, DEFAULT},
};

const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// The kinds of Kubernetes, those that are defined in the store, and those that it has objects of. The store is read when
/// such a one is looked for.
pub(crate) struct Catalog {
    stores: Stores,
    codec: ObjectCodec,
    opener: Opener,
    /// Defined by the input of this command.
    learned: Defined,
    /// Defined in the store, once it was read.
    stored: Option<Defined>,
    /// Of which there are objects and no definition, once they were looked for.
    discovered: Option<Defined>,
}

/// Custom resources.
#[derive(Default)]
struct Defined {
    table: ResourceTable,
    columns: HashMap<GroupResource, Vec<Column>>,
    /// Where objects are, if not where those of a custom resource are.
    places: HashMap<GroupResource, String>,
}

impl Defined {
    fn add(&mut self, definition: &Unstructured) -> Result<()> {
        let resource = self.table.insert(codec::Resource::from_crd(definition)?);
        self.columns.insert(resource.group_resource(), printer_columns::of_definition(definition));
        Ok(())
    }

    fn resource(&self, inner: &Arc<codec::Resource>) -> Arc<Resource> {
        let columns = self.columns.get(&inner.group_resource()).cloned();
        let columns = columns.map_or(Cow::Borrowed(DEFAULT), Cow::Owned);
        let place = self.places.get(&inner.group_resource()).cloned();
        Arc::new(Resource { inner: Arc::clone(inner), columns, place })
    }
}

impl Catalog {
    pub(crate) fn new(stores: Stores, codec: ObjectCodec, opener: Opener) -> Self {
        Self { stores, codec, opener, learned: Defined::default(), stored: None, discovered: None }
    }

    /// Takes note of a `CustomResourceDefinition` that is about to be stored.
    ///
    /// # Errors
    /// It does not define anything.
    pub(crate) fn learn(&mut self, definition: &Unstructured) -> Result<()> {
        self.learned.add(definition)
    }

    /// The resource that is called `name`, as kubectl would take it.
    ///
    /// # Errors
    /// There is none.
    pub(crate) async fn by_name(&mut self, name: &str) -> Result<Arc<Resource>> {
        let find = |table: &ResourceTable| table.by_name(name).cloned();
        match self.find(find).await? {
            Some(found) => Ok(found),
            None => bail!("unknown resource {name:?}: {}", self.how_to_define()),
        }
    }

    /// The resources of a category, such as `all`; none if there is no such category.
    pub(crate) fn category(&self, name: &str) -> Vec<Arc<Resource>> {
        let resources = ResourceTable::builtin().category(name);
        resources.map(|inner| Arc::new(Resource::builtin(inner))).collect()
    }

    /// The resource of objects of this kind.
    ///
    /// # Errors
    /// There is none, or it has no such version.
    pub(crate) async fn by_kind(&mut self, api_version: &str, kind: &str) -> Result<Arc<Resource>> {
        let find = |table: &ResourceTable| table.by_kind(api_version, kind).cloned();
        let Some(found) = self.find(find).await? else {
            bail!("unknown kind {kind} of {api_version}: {}", self.how_to_define());
        };
        found.check_version(api_version.rsplit('/').next().unwrap_or_default())?;
        Ok(found)
    }

    /// Looks at the kinds of Kubernetes first, then at what the input defines, then at what the store defines.
    async fn find(
        &mut self,
        find: impl Fn(&ResourceTable) -> Option<Arc<codec::Resource>>,
    ) -> Result<Option<Arc<Resource>>> {
        if let Some(found) = find(ResourceTable::builtin()) {
            if !found.is_stored() {
                bail!("{} are answered by an API server and not stored", found.group_resource());
            }
            return Ok(Some(Arc::new(Resource::builtin(&found))));
        }
        if let Some(found) = find(&self.learned.table) {
            return Ok(Some(self.learned.resource(&found)));
        }
        let stored = match self.stored.take() {
            Some(stored) => stored,
            None => self.read_definitions().await.context("looking for its definition")?,
        };
        let stored = self.stored.insert(stored);
        if let Some(found) = find(&stored.table) {
            return Ok(Some(stored.resource(&found)));
        }
        let discovered = match self.discovered.take() {
            Some(discovered) => discovered,
            None => self.discover().await.context("looking for its keys")?,
        };
        let discovered = self.discovered.insert(discovered);
        Ok(find(&discovered.table).map(|found| discovered.resource(&found)))
    }

    async fn discover(&self) -> Result<Defined> {
        let mut defined = Defined::default();
        for found in discovered::all(self.stores.kv(), self.stores.prefix().as_str(), &self.opener).await? {
            let resource = defined.table.insert(found.resource);
            if let Some(place) = found.place {
                defined.places.insert(resource.group_resource(), place);
            }
        }
        Ok(defined)
    }

    async fn read_definitions(&self) -> Result<Defined> {
        let mut defined = Defined::default();
        let resource =
            ResourceTable::builtin().by_name(DEFINITIONS).context("the table has no definitions")?;
        let store = self.stores.typed(resource.group_resource(), self.codec.clone(), UnstructuredVersioner);
        let mut parts = store.list_stream(&resource.list_key(None)?, ListOptions::recursive());
        while let Some(part) = parts.next().await {
            let ListPart::Items(items) = part? else { continue };
            for definition in items {
                if let Err(error) = defined.add(&definition) {
                    tracing::warn!(name = definition.name(), %error, "a definition is left out");
                }
            }
        }
        Ok(defined)
    }

    fn how_to_define(&self) -> String {
        format!(
            "Kubernetes has none of this name, and below {} no CustomResourceDefinition defines it and no key is of it; apply \
             its definition first, or write it as its plural with its group (widgets.shop.example.com)",
            self.stores.prefix().as_str().trim_end_matches('/')
        )
    }
}
