//! An open store, and what the command line says about it.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use directories::ProjectDirs;
use kubestore::{
    Store, Stores, codec::Unstructured, embedded::Embedded, etcd::EtcdKv, kv::Kv, transform::EncryptionConfig,
};

use crate::{
    args::GlobalArgs,
    failure::Usage,
    resources::{Catalog, Resource, check_namespace},
};

/// How long etcd may take to answer at first, unless said otherwise.
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);
const ENDPOINTS: &str = "KUBESTORE_ENDPOINTS";

/// What a command is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing is made that is not there.
    Read,
    /// A directory is made if it is missing.
    Write,
}

/// An open store.
pub(crate) struct Session {
    stores: Stores,
    /// The engine, if the store is a directory.
    engine: Option<Embedded>,
    pub(crate) catalog: Catalog,
    namespace: Option<String>,
}

impl Session {
    /// Opens the store that the command line names.
    ///
    /// # Errors
    /// It cannot be opened, or something on the command line is wrong. Nothing is changed then.
    pub(crate) async fn open(global: &GlobalArgs, access: Access) -> Result<Self> {
        if let Some(namespace) = &global.namespace {
            check_namespace(namespace).map_err(|error| Usage::new(format!("--namespace: {error}")))?;
        }
        if global.prefix.split('/').any(|part| part == "." || part == "..") {
            return Err(Usage::new(format!(
                "--prefix: {:?} has a part . or ..; write a path",
                global.prefix
            ))
            .into());
        }
        let encryption = global.encryption_config.as_ref().map(EncryptionConfig::from_file).transpose()?;
        let (stores, engine) = match endpoints(global) {
            Some(endpoints) => (Stores::builder(connect(endpoints, global.timeout).await?), None),
            None => {
                let engine = open_directory(global.data_dir.as_deref(), access).await?;
                (Stores::builder(engine.clone()), Some(engine))
            }
        };
        let stores = stores.prefix(&global.prefix).watch_list(true);
        let stores = match encryption {
            Some(encryption) => stores.encryption(encryption),
            None => stores,
        };
        let stores = stores.build();
        let namespace = global.namespace.clone();
        Ok(Self { catalog: Catalog::new(stores.clone()), stores, engine, namespace })
    }

    /// Closes the store. A directory that is not closed is checked more thoroughly the next time.
    pub(crate) async fn close(self) {
        if let Some(engine) = self.engine {
            engine.close().await;
        }
    }

    /// The store of a resource.
    pub(crate) fn store(&self, resource: &Resource) -> Store<Unstructured> {
        self.stores.unstructured(resource.group_resource())
    }

    /// The backend.
    pub(crate) fn kv(&self) -> &dyn Kv {
        self.stores.kv()
    }

    /// The path before every key.
    pub(crate) fn prefix(&self) -> &str {
        self.stores.prefix().as_str()
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

/// The addresses on the command line, or those in the environment if no directory is named.
fn endpoints(global: &GlobalArgs) -> Option<Vec<String>> {
    let named = |endpoints: Vec<String>| {
        let endpoints: Vec<_> =
            endpoints.into_iter().filter(|endpoint| !endpoint.trim().is_empty()).collect();
        (!endpoints.is_empty()).then_some(endpoints)
    };
    if !global.endpoints.is_empty() {
        // Empty ones too are refused by the connection, not taken for none.
        return Some(global.endpoints.clone());
    }
    if global.data_dir.is_some() {
        return None;
    }
    let text = env::var(ENDPOINTS).ok()?;
    named(text.split(',').map(str::to_owned).collect())
}

async fn connect(endpoints: Vec<String>, timeout: Option<Duration>) -> Result<EtcdKv> {
    let builder = EtcdKv::builder().endpoints(endpoints).dial_timeout(timeout.unwrap_or(DIAL_TIMEOUT));
    let builder = match timeout {
        Some(timeout) => builder.request_timeout(timeout).retry_for(timeout),
        None => builder,
    };
    Ok(builder.connect().await?)
}

async fn open_directory(named: Option<&Path>, access: Access) -> Result<Embedded> {
    let directory = match named {
        Some(directory) => directory.to_owned(),
        None => default_directory()?,
    };
    if access == Access::Read && is_absent(&directory) {
        bail!(
            "there is no store in {}; `kubestore apply` makes one, --data-dir or --endpoints name another",
            directory.display()
        );
    }
    Ok(Embedded::open(&directory).await?)
}

fn default_directory() -> Result<PathBuf> {
    let project = ProjectDirs::from("", "", "kubestore")
        .context("this user has no home directory; name one for the data with --data-dir")?;
    Ok(project.data_dir().to_owned())
}

/// Whether there is nothing, or an empty directory.
fn is_absent(directory: &Path) -> bool {
    match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}
