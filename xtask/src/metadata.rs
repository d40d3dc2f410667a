//! What cargo knows about the workspace: its packages, their features, targets and dependencies.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command::{cargo, read};

/// The answer of `cargo metadata`.
pub(crate) struct Metadata(Value);

/// A package of the workspace.
pub(crate) struct Package<'a>(&'a Value);

/// A line in a package's tables of dependencies.
pub(crate) struct Dependency {
    /// The name in the registry.
    pub(crate) name: String,
    /// Whether the package itself needs it, or its build script, and not only its tests.
    pub(crate) normal: bool,
}

impl Metadata {
    /// Asks cargo.
    pub(crate) fn load() -> Result<Self> {
        Self::parse(&read(&mut cargo(&["metadata", "--format-version", "1", "--no-deps", "--locked"]))?)
    }

    /// Reads an answer of cargo.
    pub(crate) fn parse(json: &str) -> Result<Self> {
        serde_json::from_str(json).map(Self).context("cargo metadata printed something else than JSON")
    }

    /// The packages of the workspace.
    pub(crate) fn packages(&self) -> impl Iterator<Item = Package<'_>> {
        self.0["packages"].as_array().into_iter().flatten().map(Package)
    }

    /// Where builds put what they make.
    pub(crate) fn target_directory(&self) -> PathBuf {
        PathBuf::from(self.0["target_directory"].as_str().unwrap_or("target"))
    }
}

impl Package<'_> {
    pub(crate) fn name(&self) -> &str {
        self.0["name"].as_str().unwrap_or("")
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        PathBuf::from(self.0["manifest_path"].as_str().unwrap_or(""))
    }

    /// Whether it goes to the registry; what only serves the workspace does not.
    pub(crate) fn is_published(&self) -> bool {
        self.0["publish"].is_null()
    }

    /// Its features but for `default`, in alphabetical order.
    pub(crate) fn features(&self) -> Vec<&str> {
        let features = self.0["features"].as_object().into_iter().flat_map(|features| features.keys());
        features.map(String::as_str).filter(|feature| *feature != "default").collect()
    }

    /// Whether it has a target of this kind: `lib`, `bin`, `bench`, `test`.
    pub(crate) fn has_target(&self, kind: &str) -> bool {
        let mut targets = self.0["targets"].as_array().into_iter().flatten();
        targets.any(|target| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|k| k == kind)))
    }

    pub(crate) fn dependencies(&self) -> impl Iterator<Item = Dependency> {
        let dependencies = self.0["dependencies"].as_array().into_iter().flatten();
        dependencies.map(|dependency| Dependency {
            name: dependency["name"].as_str().unwrap_or("").to_owned(),
            normal: dependency["kind"].as_str() != Some("dev"),
        })
    }
}
