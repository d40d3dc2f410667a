//! `bench`: runs the benchmarks; `--smoke` runs each of them once, without optimisation, to see that they work.

use anyhow::Result;

use crate::command::{cargo, run};
use crate::metadata::Metadata;

/// Runs the task.
pub(crate) fn run_task(smoke: bool) -> Result<()> {
    if !Metadata::load()?.packages().any(|package| package.has_target("bench")) {
        eprintln!("bench: there are no benchmarks yet");
        return Ok(());
    }
    if smoke {
        // The whole workspace is selected, so that what the tests have built is used again.
        run(&mut cargo(&["test", "--workspace", "--all-features", "--locked", "--bench", "*"]))
    } else {
        run(&mut cargo(&["bench", "--locked", "--package", "kubestore-benches"]))
    }
}
