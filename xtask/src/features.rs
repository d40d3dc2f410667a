//! `features`: every library builds without its default features, and with each of its features alone; a warning is an error.

use anyhow::{Result, bail};

use crate::command::{cargo, run};
use crate::metadata::Metadata;

/// Runs the task, all of it even if a feature fails.
pub(crate) fn run_task() -> Result<()> {
    let metadata = Metadata::load()?;
    let mut failed = Vec::new();
    for package in metadata.packages().filter(|package| package.is_published() && package.has_target("lib")) {
        let features = package.features();
        for feature in std::iter::once(None).chain(features.into_iter().map(Some)) {
            if let Err(error) = check(package.name(), feature) {
                eprintln!("features: {error:#}");
                failed.push(format!("{}/{}", package.name(), feature.unwrap_or("no features")));
            }
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// Clippy instead of a plain check, since it takes warnings for errors without building the dependencies anew.
fn check(package: &str, feature: Option<&str>) -> Result<()> {
    let mut check =
        cargo(&["clippy", "--quiet", "--locked", "--lib", "--no-default-features", "--package", package]);
    check.args(feature.map(|feature| format!("--features={feature}")));
    run(check.args(["--", "-D", "warnings"]))
}
