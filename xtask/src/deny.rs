//! `deny`: licences, known faults and sources of what is depended on, where cargo-deny is installed.

use anyhow::Result;

use crate::command::{cargo, on_path, run};

/// Runs the task. Answers whether there was something to run.
pub(crate) fn run_task() -> Result<bool> {
    if on_path("cargo-deny").is_none() {
        eprintln!("deny: cargo-deny is not installed; `cargo install cargo-deny` adds it");
        return Ok(false);
    }
    run(&mut cargo(&["deny", "--all-features", "check", "--config", ".deny.toml"]))?;
    Ok(true)
}
