//! `docs`: the documentation of every crate; a warning is an error. Its examples are tests.

use anyhow::Result;

use crate::command::{cargo, run};

/// Runs the task.
pub(crate) fn run_task() -> Result<()> {
    build()?;
    run(&mut cargo(&["test", "--workspace", "--all-features", "--locked", "--doc"]))
}

/// The documentation without its examples, which `test` runs too.
pub(crate) fn build() -> Result<()> {
    let mut doc = cargo(&["doc", "--workspace", "--all-features", "--no-deps", "--locked"]);
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))
}
