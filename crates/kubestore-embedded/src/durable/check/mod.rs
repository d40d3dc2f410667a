//! Looking into a closed directory, and making the best of a damaged one.
//!
//! Neither trusts the database underneath with the directory itself, since opening it changes files: both read a copy,
//! for which tables are linked where that is possible.

mod judge;
mod look;
mod repair;
mod report;
mod scratch;
mod survey;

use std::path::Path;

use kubestore_kv::{KvError, KvErrorKind};
use tokio::sync::oneshot;

pub use report::{CheckOptions, CheckReport, Problem, ProblemKind, RepairReport};

use super::directory::directory_error;

/// Looks into the directory, without changing it.
pub(crate) async fn check(path: &Path, options: CheckOptions) -> Result<CheckReport, KvError> {
    let target = path.to_owned();
    aside(path, move || look::look(&target, &options).map(|looked| looked.report)).await
}

/// Replaces the data by what can be read of it, and keeps what was there.
pub(crate) async fn repair(path: &Path, options: CheckOptions) -> Result<RepairReport, KvError> {
    let target = path.to_owned();
    aside(path, move || repair::repair(&target, &options)).await
}

/// Runs what blocks on a thread of its own.
async fn aside<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, KvError> + Send + 'static,
) -> Result<T, KvError> {
    let (done, result) = oneshot::channel();
    let run = move || {
        // Nobody waits where the future was dropped.
        let _ = done.send(work());
    };
    std::thread::Builder::new().name("kubestore-check".to_owned()).spawn(run).map_err(|error| {
        directory_error(KvErrorKind::Internal, path, "no thread to look into it with").with_source(error)
    })?;
    result.await.unwrap_or_else(|_| {
        let message =
            "the database underneath does not stand what is in data; restore the directory from a backup";
        Err(directory_error(KvErrorKind::Corrupt, path, message))
    })
}
