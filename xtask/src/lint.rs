//! `lint`: clippy on every target with every feature; a warning is an error.

use anyhow::Result;

use crate::command::{cargo, run};

/// Runs the task.
pub(crate) fn run_task() -> Result<()> {
    run(&mut cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--locked",
        "--",
        "-D",
        "warnings",
    ]))
}
