//! The backends that scenarios run on.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use kubestore_embedded::Embedded;
use kubestore_etcd::{EtcdKv, testing::EtcdProcess};
use kubestore_kv::Kv;
use tempfile::TempDir;

/// What scenarios run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[non_exhaustive]
pub enum BackendKind {
    /// The embedded engine in memory.
    Memory,
    /// The embedded engine in a directory.
    Durable,
    /// etcd.
    Etcd,
}

/// Where backends come from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Backends {
    /// Which one.
    pub kind: BackendKind,
    /// A running etcd; none starts one.
    pub endpoints: Vec<String>,
}

impl Backends {
    /// Backends of this kind; etcd is started where it is needed.
    #[must_use]
    pub fn new(kind: BackendKind) -> Self {
        Self { kind, endpoints: Vec::new() }
    }

    /// An etcd that runs already. Nothing else may write to it, and what is under the prefixes of the scenarios is
    /// deleted.
    #[must_use]
    pub fn at(mut self, endpoints: Vec<String>) -> Self {
        self.endpoints = endpoints;
        self
    }

    /// How many scenarios may run at once on a machine with so many processors. Revisions are relative, so that one
    /// etcd can serve only one scenario at a time.
    pub(super) fn parallel(&self, wanted: Option<usize>) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        match self.kind {
            BackendKind::Etcd if !self.endpoints.is_empty() => 1,
            // Most of a scenario's time is waiting.
            BackendKind::Etcd => wanted.unwrap_or(processors),
            _ => wanted.unwrap_or(4 * processors),
        }
        .max(1)
    }

    /// A place for one scenario after the other.
    pub(super) fn seat(&self) -> Seat {
        Seat { backends: self.clone(), etcd: None }
    }
}

/// Whoever names an endpoint wants to know soon that nobody answers there.
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs one scenario after the other, each on a backend that nobody else uses.
pub(super) struct Seat {
    backends: Backends,
    /// Used again by the next scenario.
    etcd: Option<Running>,
}

/// A backend for one scenario, and what it lives on.
pub(super) struct Running {
    pub(super) kv: Arc<dyn Kv>,
    _folder: Option<TempDir>,
    _process: Option<EtcdProcess>,
}

impl Seat {
    /// A backend; a new one if the scenario says so.
    pub(super) async fn take(&mut self, fresh: bool) -> Result<Running> {
        match self.backends.kind {
            BackendKind::Memory => Ok(Running::on(Embedded::in_memory(), None, None)),
            BackendKind::Durable => {
                let folder = folder()?;
                let engine = Embedded::open(folder.path()).await?;
                Ok(Running::on(engine, Some(folder), None))
            }
            BackendKind::Etcd if fresh => start().await,
            BackendKind::Etcd => match self.etcd.take() {
                Some(running) => Ok(running),
                None if self.backends.endpoints.is_empty() => start().await,
                None => {
                    let builder = EtcdKv::builder().endpoints(self.backends.endpoints.clone());
                    let kv = builder.dial_timeout(DIAL_TIMEOUT).connect().await?;
                    Ok(Running::on(kv, None, None))
                }
            },
        }
    }

    /// A scenario that ended well leaves its etcd to the next.
    pub(super) fn give_back(&mut self, running: Running, fresh: bool) {
        if self.backends.kind == BackendKind::Etcd && !fresh {
            self.etcd = Some(running);
        }
    }
}

impl Running {
    fn on(kv: impl Kv, folder: Option<TempDir>, process: Option<EtcdProcess>) -> Self {
        Self { kv: Arc::new(kv), _folder: folder, _process: process }
    }
}

/// In memory where there is a file system for it: what is tested here is not the disk.
fn folder() -> Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        TempDir::with_prefix_in("replay-", memory)
    } else {
        TempDir::with_prefix("replay-")
    };
    folder.context("no folder for the engine")
}

async fn start() -> Result<Running> {
    let process = match EtcdProcess::start().await {
        Ok(process) => process,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            provision()?;
            EtcdProcess::start().await?
        }
        Err(error) => return Err(error.into()),
    };
    let kv = EtcdKv::connect([process.endpoint()]).await?;
    Ok(Running::on(kv, None, Some(process)))
}

/// Has one found or built; it is left where the next start finds it.
fn provision() -> Result<()> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new("cargo").args(["xtask", "etcd"]).current_dir(root).output();
    let output = output.context("no etcd was found, and cargo could not be run to get one")?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("no etcd was found, and cargo xtask etcd could not get one: {}", text.trim());
    }
    Ok(())
}
