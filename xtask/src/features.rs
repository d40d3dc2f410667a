//! `features`: every library builds without its default features, and with each of its features alone; a warning is an error.

use anyhow::Result;

use crate::command::{cargo, run};
use crate::metadata::Metadata;

/// `k8s-openapi` leaves the version of Kubernetes to whoever builds the program, and does not build without one.
const KUBERNETES: (&str, &str) = ("K8S_OPENAPI_ENABLED_VERSION", "1.37");

/// Runs the task.
pub(crate) fn run_task() -> Result<()> {
    let metadata = Metadata::load()?;
    for package in metadata.packages().filter(|package| package.is_published() && package.has_target("lib")) {
        let check = |feature: Option<&str>| {
            let mut check =
                cargo(&["check", "--quiet", "--locked", "--lib", "--no-default-features", "--package"]);
            check.arg(package.name()).env(KUBERNETES.0, KUBERNETES.1);
            run(check.args(feature.map(|feature| format!("--features={feature}"))))
        };
        check(None)?;
        for feature in package.features() {
            check(Some(feature))?;
        }
    }
    Ok(())
}
