//! `test`: every test with a real etcd: those of the crates, the examples in the documentation, the recordings on each backend,
//! and the programs that use one layer alone.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::command::{cargo, command, root, run};
use crate::etcd::{self, Wanted};
use crate::layers;
use crate::metadata::Metadata;

/// Recorded from the reference; replayed on each backend.
const RECORDINGS: &str = "tests/data/conformance";

const BACKENDS: [&str; 3] = ["memory", "durable", "etcd"];

/// Runs the task.
pub(crate) fn run_task() -> Result<()> {
    let etcd = etcd::locate(Wanted::default())?;
    eprintln!("test: with {}", etcd.display());
    let with_etcd = |mut command: Command| run(command.env(etcd::VARIABLE, &etcd));
    with_etcd(cargo(&[
        "test",
        "--workspace",
        "--all-features",
        "--locked",
        "--no-fail-fast",
        "--",
        "--include-ignored",
    ]))?;
    replay(with_etcd)?;
    layers::run_task(&etcd)
}

fn replay(run: impl Fn(Command) -> Result<()>) -> Result<()> {
    if !root().join(RECORDINGS).exists() {
        eprintln!("test: {RECORDINGS} does not exist yet; nothing to replay");
        return Ok(());
    }
    // Built with the features of the whole workspace, so that what the tests have built is used again.
    run(cargo(&["build", "--workspace", "--all-features", "--locked", "--bins"]))?;
    let replay = Metadata::load()?.target_directory().join("debug/replay");
    BACKENDS.into_iter().try_for_each(|backend| {
        let mut command = command(Path::new(&replay));
        command.args(["--backend", backend, RECORDINGS]);
        run(command)
    })
}
