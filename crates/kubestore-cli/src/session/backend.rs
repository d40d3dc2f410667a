//! Where the keys are: in a directory, in an etcd, in a snapshot of one.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use directories::ProjectDirs;
use kubestore::{embedded::Embedded, etcd::EtcdKv, kv::Kv, snapshot::Snapshot};

use crate::{args::GlobalArgs, failure::Usage};

/// How long etcd may take to answer at first, unless said otherwise.
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);
const ENDPOINTS: &str = "KUBESTORE_ENDPOINTS";

/// What a command is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing is written.
    Read,
    /// What is there is written, but nothing is made that is not there.
    Change,
    /// A directory is made if it is missing.
    Make,
}

/// An open backend.
pub(super) struct Backend {
    pub(super) kv: Arc<dyn Kv>,
    /// The engine, if it is a directory.
    pub(super) engine: Option<Embedded>,
}

/// Opens what the command line names.
pub(super) async fn open(global: &GlobalArgs, access: Access) -> Result<Backend> {
    if let Some(file) = &global.snapshot {
        if access != Access::Read {
            let message = "--snapshot: a snapshot is only read; name a store to write to with --data-dir or --endpoints, and \
                           bring there what is in the snapshot with export and import";
            return Err(Usage::new(message).into());
        }
        return Ok(Backend { kv: Arc::new(Snapshot::open(file).await?), engine: None });
    }
    match endpoints(global) {
        Some(endpoints) => {
            Ok(Backend { kv: Arc::new(connect(endpoints, global.timeout).await?), engine: None })
        }
        None => {
            let engine = open_directory(global.data_dir.as_deref(), access).await?;
            Ok(Backend { kv: Arc::new(engine.clone()), engine: Some(engine) })
        }
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
    if access != Access::Make && is_absent(&directory) {
        bail!(
            "there is no store in {}; `kubestore apply` makes one, --data-dir, --endpoints or --snapshot name another",
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
