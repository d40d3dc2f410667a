//! An open store, and what the command line says about it.

mod backend;

use anyhow::Result;
use kubestore::{
    Store, Stores,
    codec::{Unstructured, UnstructuredVersioner},
    embedded::Embedded,
    kv::Kv,
    transform::EncryptionConfig,
};

pub(crate) use backend::{Access, existing_directory, open_snapshot};

use crate::{
    args::GlobalArgs,
    failure::Usage,
    object::{ObjectCodec, Opener},
    resources::{Catalog, Resource, check_namespace},
};

/// An open store.
pub(crate) struct Session {
    stores: Stores,
    /// The engine, if the store is a directory.
    engine: Option<Embedded>,
    opener: Opener,
    pub(crate) codec: ObjectCodec,
    ignore_checksum: bool,
    pub(crate) catalog: Catalog,
    namespace: Option<String>,
}

impl Session {
    /// Opens the store that the command line names.
    ///
    /// # Errors
    /// It cannot be opened, or something on the command line is wrong. Nothing is changed then.
    pub(crate) async fn open(global: &GlobalArgs, access: Access) -> Result<Self> {
        check(global)?;
        let encryption = read_encryption(global)?;
        let backend = backend::open(global, access).await?;
        let stores = Stores::builder(backend.kv).prefix(&global.prefix).watch_list(true);
        let stores = match &encryption {
            Some(encryption) => stores.encryption(encryption.clone()),
            None => stores,
        };
        let stores = stores.build();
        let (namespace, ignore_checksum) = (global.namespace.clone(), global.ignore_checksum);
        let codec = ObjectCodec::new();
        let opener = Opener::new(stores.prefix().as_str(), encryption, codec.clone());
        let catalog = Catalog::new(stores.clone(), codec.clone(), opener.clone());
        Ok(Self { stores, engine: backend.engine, opener, codec, ignore_checksum, catalog, namespace })
    }

    /// Closes the store. A directory that is not closed is checked more thoroughly the next time.
    pub(crate) async fn close(self) {
        if let Some(engine) = self.engine {
            engine.close().await;
        }
    }

    /// The store of a resource.
    pub(crate) fn store(&self, resource: &Resource) -> Store<Unstructured> {
        self.stores.typed(resource.group_resource(), self.codec.clone(), UnstructuredVersioner)
    }

    /// The backend.
    pub(crate) fn kv(&self) -> &dyn Kv {
        self.stores.kv()
    }

    /// The path before every key.
    pub(crate) fn prefix(&self) -> &str {
        self.stores.prefix().as_str()
    }

    /// Whether the checksums of snapshots do not count.
    pub(crate) fn ignores_checksums(&self) -> bool {
        self.ignore_checksum
    }

    /// What opens values by their keys.
    pub(crate) fn opener(&self) -> &Opener {
        &self.opener
    }

    /// The whole key of what has this key in the store: `/pods/ns1/a`.
    pub(crate) fn full_key(&self, key: &str) -> String {
        format!("{}{}", self.prefix(), key.trim_start_matches('/'))
    }

    /// The namespace that was named.
    pub(crate) fn named_namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The namespace that was named, or else `default`.
    pub(crate) fn namespace(&self) -> &str {
        self.named_namespace().unwrap_or("default")
    }

    /// The namespace to list, if it is one.
    pub(crate) fn listed_namespace(&self, all: bool) -> Option<&str> {
        (!all).then(|| self.namespace())
    }
}

/// The encryption configuration that the command line names.
///
/// # Errors
/// The file cannot be read, or is wrong.
pub(crate) fn read_encryption(global: &GlobalArgs) -> Result<Option<EncryptionConfig>> {
    Ok(global.encryption_config.as_ref().map(EncryptionConfig::from_file).transpose()?)
}

fn check(global: &GlobalArgs) -> Result<()> {
    if let Some(namespace) = &global.namespace {
        check_namespace(namespace).map_err(|error| Usage::new(format!("--namespace: {error}")))?;
    }
    if global.prefix.split('/').any(|part| part == "." || part == "..") {
        let message = format!("--prefix: {:?} has a part . or ..; write a path", global.prefix);
        return Err(Usage::new(message).into());
    }
    Ok(())
}
