//! `test`: every test with a real etcd: those of the crates, the examples in the documentation, the recordings on each backend,
//! and the programs that use one layer alone.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::command::{cargo, command, run};
use crate::etcd::{self, Wanted};
use crate::layers;
use crate::metadata::Metadata;

/// Recorded from the reference; replayed on each backend.
const RECORDINGS: &str = "tests/data/conformance.tar.gz";

const BACKENDS: [&str; 3] = ["memory", "durable", "etcd"];

/// Runs the task.
pub(crate) fn run_task() -> Result<()> {
    let etcd = etcd::locate(Wanted::default())?;
    eprintln!("test: with {}", etcd.display());
    let with_etcd = |mut command: Command| run(command.env(etcd::VARIABLE, &etcd));
    // What is ignored stays so: it is where a backend says which cases of the suite are beyond it.
    with_etcd(cargo(&["test", "--workspace", "--all-features", "--locked", "--no-fail-fast"]))?;
    replay(with_etcd)?;
    layers::run_task(&etcd)
}

fn replay(run: impl Fn(Command) -> Result<()>) -> Result<()> {
    // Built with the features of the whole workspace, so that what the tests have built is used again.
    run(cargo(&["build", "--workspace", "--all-features", "--locked", "--bins"]))?;
    let replay = Metadata::load()?.target_directory().join("debug/replay");
    BACKENDS.into_iter().try_for_each(|backend| {
        let mut command = command(Path::new(&replay));
        command.args(["--backend", backend, RECORDINGS]);
        run(command)
    })
}
