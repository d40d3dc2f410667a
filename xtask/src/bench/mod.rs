//! `bench`: runs the benchmarks; `--smoke` runs each of them once, without optimisation, to see that they work; `load`
//! measures the store beside the bare client of etcd and, if it is given, the reference.

mod chart;
mod figures;
mod load;
mod table;

use anyhow::Result;

use crate::command::{cargo, run};

/// Runs the task.
pub(crate) fn run_task(flags: &[&str]) -> Result<()> {
    match flags {
        [] => run(&mut cargo(&["bench", "--locked", "--package", "kubestore-benches"])),
        ["--smoke"] => smoke(),
        ["load", flags @ ..] => load::run_task(flags),
        other => anyhow::bail!("`bench` takes --smoke or load, not `{}`", other.join(" ")),
    }
}

fn smoke() -> Result<()> {
    // The whole workspace is selected, so that what the tests have built is used again.
    run(&mut cargo(&["test", "--workspace", "--all-features", "--locked", "--bench", "*"]))?;
    let load = ["run", "--locked", "--package", "kubestore-benches", "--bin", "load", "--"];
    let little = ["--backend", "memory", "--objects", "100", "--mods", "200", "--watchers", "1"];
    for object in ["typed", "lazy"] {
        run(cargo(&load).args(little).args(["--object", object, "--transformer", "aesgcm"]))?;
    }
    Ok(())
}
