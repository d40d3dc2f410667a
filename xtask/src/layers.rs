//! `layers`: builds and runs the programs in `tests/layers`, each of which uses one layer alone, as its users do: outside the workspace.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::{cargo, root, run};
use crate::etcd::Server;

const FOLDER: &str = "tests/layers";

/// Tells a program where an etcd listens.
const ENDPOINT: &str = "KUBESTORE_ENDPOINT";

/// Runs the task, all of it even if a program fails. Those that need a server are given one, started from the binary `etcd`.
pub(crate) fn run_task(etcd: &Path) -> Result<()> {
    let target = root().join("target/layers");
    let server = Server::start(etcd, &target.join("etcd"))?;
    let lock = root().join("Cargo.lock");
    let mut failed = Vec::new();
    for manifest in manifests()? {
        // The versions that the workspace is tested with; cargo drops from the copy what the program does not need.
        let copy = root().join(&manifest).with_file_name("Cargo.lock");
        fs::copy(&lock, &copy).with_context(|| format!("cannot write {}", copy.display()))?;
        let mut program = cargo(&["run", "--quiet", "--manifest-path", &manifest, "--target-dir"]);
        program.arg(&target).env("CARGO_PROFILE_DEV_DEBUG", "0").env(ENDPOINT, server.endpoint());
        if let Err(error) = run(&mut program) {
            eprintln!("layers: {error:#}");
            failed.push(manifest);
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// The manifests of the programs, relative to the root.
pub(crate) fn manifests() -> Result<Vec<String>> {
    let folder = root().join(FOLDER);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries =
        fs::read_dir(&folder)?.map(|entry| Ok(entry?.file_name())).collect::<Result<Vec<OsString>>>()?;
    let manifests = entries.iter().map(|name| format!("{FOLDER}/{}/Cargo.toml", name.to_string_lossy()));
    let mut manifests: Vec<String> = manifests.filter(|manifest| root().join(manifest).exists()).collect();
    manifests.sort_unstable();
    Ok(manifests)
}
