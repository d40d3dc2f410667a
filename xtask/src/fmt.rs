//! `fmt`: formats every Rust file, those outside the workspace included; `--check` only says which are not formatted.

use anyhow::Result;

use crate::command::{cargo, run};
use crate::layers;

/// Runs the task.
pub(crate) fn run_task(check: bool) -> Result<()> {
    let flags: &[&str] = if check { &["--check"] } else { &[] };
    run(cargo(&["fmt", "--all"]).args(flags))?;
    let outside = layers::manifests()?.into_iter().chain(["xtask/protoc/Cargo.toml".to_owned()]);
    for manifest in outside {
        run(cargo(&["fmt", "--manifest-path", &manifest]).args(flags))?;
    }
    Ok(())
}
