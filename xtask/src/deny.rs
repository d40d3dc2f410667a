//! `deny`: licences, versions and sources of what is depended on, where cargo-deny is installed. Published faults are left out: they would
//! make an unchanged tree fail, and need more than the package registries.

use anyhow::Result;

use crate::command::{cargo, on_path, run};

/// Runs the task. Answers whether there was something to run.
pub(crate) fn run_task() -> Result<bool> {
    if on_path("cargo-deny").is_none() {
        eprintln!("deny: cargo-deny is not installed; `cargo install cargo-deny` adds it");
        return Ok(false);
    }
    run(&mut cargo(&["deny", "--locked", "check", "bans", "licenses", "sources"]))?;
    Ok(true)
}
