//! Where the keys are: in a directory, in an etcd, in a snapshot of one.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use directories::ProjectDirs;
use kubestore::{
    embedded::Embedded,
    etcd::{EtcdKv, EtcdctlOptions},
    kv::{Kv, KvErrorKind},
    snapshot::{Checksum, Snapshot, SnapshotErrorKind, SnapshotOptions},
};

use crate::{
    args::GlobalArgs,
    failure::{self, Usage},
};

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
        needs_no_etcd(global, "--snapshot")?;
        return Ok(Backend {
            kv: Arc::new(open_snapshot(file, global.ignore_checksum).await?),
            engine: None,
        });
    }
    if global.data_dir.is_some() {
        needs_no_etcd(global, "--data-dir")?;
    } else if let Some(options) = etcd_options(global)? {
        return Ok(Backend { kv: Arc::new(connect(options, global.timeout).await?), engine: None });
    }
    let engine = open_directory(global.data_dir.as_deref(), access).await?;
    Ok(Backend { kv: Arc::new(engine.clone()), engine: Some(engine) })
}

/// Opens a snapshot.
///
/// # Errors
/// It cannot be read, or it is damaged.
pub(crate) async fn open_snapshot(file: &Path, ignore_checksum: bool) -> Result<Snapshot> {
    let checksum = if ignore_checksum { Checksum::Ignore } else { Checksum::Verify };
    let opened = Snapshot::open_with(file, SnapshotOptions::default().checksum(checksum)).await;
    opened.map_err(|error| match error.kind() {
        SnapshotErrorKind::ChecksumMismatch => failure::with_hint(error, "--ignore-checksum does that"),
        _ => error.into(),
    })
}

/// Refuses options that would be of no effect.
fn needs_no_etcd(global: &GlobalArgs, named: &str) -> Result<()> {
    match global.etcd.given() {
        Some(option) => {
            Err(Usage::new(format!("{option} is of an etcd, and {named} names none; leave one out")).into())
        }
        None => Ok(()),
    }
}

/// How to reach an etcd, by the command line and then by the environment; none if neither names one.
fn etcd_options(global: &GlobalArgs) -> Result<Option<EtcdctlOptions>> {
    let mut options = global.etcd.options();
    if options.endpoints.is_empty() {
        let text = env::var(ENDPOINTS).unwrap_or_default();
        let named = text.split(',').map(str::trim).filter(|endpoint| !endpoint.is_empty());
        options.endpoints = named.map(str::to_owned).collect();
    }
    let options = options.or(EtcdctlOptions::from_env()?);
    if !options.endpoints.is_empty() {
        return Ok(Some(options));
    }
    match global.etcd.given() {
        Some(option) => {
            Err(Usage::new(format!("{option} is of an etcd; name its addresses with --endpoints")).into())
        }
        None => Ok(None),
    }
}

async fn connect(options: EtcdctlOptions, timeout: Option<Duration>) -> Result<EtcdKv> {
    let builder = options.builder()?.dial_timeout(timeout.unwrap_or(DIAL_TIMEOUT));
    let builder = match timeout {
        Some(timeout) => builder.request_timeout(timeout).retry_for(timeout),
        None => builder,
    };
    Ok(builder.connect().await?)
}

async fn open_directory(named: Option<&Path>, access: Access) -> Result<Embedded> {
    let directory = directory(named)?;
    if access != Access::Make {
        check_exists(&directory)?;
    }
    let opened = Embedded::open(&directory).await;
    opened.map_err(|error| match error.kind() {
        KvErrorKind::Corrupt => {
            let directory = directory.display();
            let hint = format!("`kubestore repair --dry-run --data-dir {directory}` says what can be saved");
            failure::with_hint(error, &hint)
        }
        _ => error.into(),
    })
}

/// The directory for a command that works on its files.
///
/// # Errors
/// There is none, or the command line names something else.
pub(crate) fn existing_directory(global: &GlobalArgs, command: &str) -> Result<PathBuf> {
    if global.snapshot.is_some() || !global.etcd.endpoints.is_empty() || global.etcd.given().is_some() {
        let message = format!("{command} is for directories; name one with --data-dir");
        return Err(Usage::new(message).into());
    }
    let directory = directory(global.data_dir.as_deref())?;
    check_exists(&directory)?;
    Ok(directory)
}

fn directory(named: Option<&Path>) -> Result<PathBuf> {
    match named {
        Some(directory) => Ok(directory.to_owned()),
        None => default_directory(),
    }
}

fn check_exists(directory: &Path) -> Result<()> {
    if is_absent(directory) {
        bail!(
            "there is no store in {}; `kubestore apply` makes one, --data-dir, --endpoints or --snapshot name another",
            directory.display()
        );
    }
    Ok(())
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
