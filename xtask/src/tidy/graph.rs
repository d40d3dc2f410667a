//! Rules about what depends on what. The table of crates in ARCHITECTURE.md is read, so that it says what holds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;
use super::manifest::line_of;
use crate::command::{cargo, read};
use crate::metadata::{Metadata, Package};

/// Where the table is.
const TABLE: &str = "ARCHITECTURE.md";

/// Crates of others that one of ours keeps to itself.
const OWNERS: [(&str, &str); 4] = [
    ("etcd-client", "kubestore-etcd"),
    ("prometheus", "kubestore-metrics"),
    ("aes-gcm", "kubestore-transform"),
    ("fjall", "kubestore-embedded"),
];

/// What the benchmarks name all the same, to measure ours beside it.
const MEASURED_AGAINST: [(&str, &str); 1] = [("etcd-client", "kubestore-benches")];

/// What must not be in the tree of a crate with its default features, at any depth.
const BANNED: [(&str, &[&str]); 4] = [
    ("kubestore-core", &["tonic", "etcd-client", "prometheus", "tokio"]),
    ("kubestore-kv", &["tonic", "etcd-client", "prometheus"]),
    ("kubestore-transform", &["tonic", "etcd-client", "prometheus", "tokio"]),
    ("kubestore-lease", &["tonic", "etcd-client", "prometheus"]),
];

/// Breaches in the workspace.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let metadata = Metadata::load()?;
    let table = fs::read_to_string(root.join(TABLE)).with_context(|| format!("cannot read {TABLE}"))?;
    let layers = layers(&table);
    let mut findings = Vec::new();
    for package in metadata.packages() {
        let manifest = package.manifest();
        let file = manifest.strip_prefix(root).unwrap_or(&manifest).display().to_string();
        let content = fs::read_to_string(&manifest)?;
        for breach in breaches(&package, &layers) {
            let line = breach.dependency.as_deref().and_then(|name| line_of(&content, name));
            findings.push(Finding::new(&file, line, breach.text));
        }
    }
    for (package, banned) in BANNED {
        let tree = read(
            cargo(&["tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--package"])
                .arg(package),
        )?;
        for name in in_tree(&tree, banned) {
            let text = format!(
                "{name} is in the tree of its default features; see `cargo tree -p {package} -i {name}`"
            );
            findings.push(Finding::new(&format!("crates/{package}/Cargo.toml"), None, text));
        }
    }
    Ok(findings)
}

#[derive(Debug)]
struct Breach {
    dependency: Option<String>,
    text: String,
}

/// A row of the table.
#[derive(Debug, Eq, PartialEq)]
struct Layer<'a> {
    name: &'a str,
    /// Which of our crates it may depend on, without `kubestore-`; none where any will do.
    below: Option<Vec<&'a str>>,
}

/// The rows whose first cell names a crate of ours and whose last one names what it may depend on.
fn layers(architecture: &str) -> Vec<Layer<'_>> {
    let rows = architecture.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix('|'));
    let rows = rows.filter_map(|row| row.split_once("` |"));
    rows.filter(|(name, _)| name.starts_with("kubestore"))
        .map(|(name, cells)| {
            let below = cells.rsplit('|').next().unwrap_or("").split(',').map(str::trim).collect::<Vec<_>>();
            Layer { name, below: (below.first() != Some(&"any")).then_some(below) }
        })
        .collect()
}

/// What is wrong with a package. Dependencies of tests are free, but for crates that have an owner.
fn breaches(package: &Package<'_>, layers: &[Layer<'_>]) -> Vec<Breach> {
    let name = package.name();
    let layer = layers.iter().find(|layer| layer.name == name);
    let mut breaches = Vec::new();
    if layer.is_none() && package.manifest().components().any(|part| part.as_os_str() == "crates") {
        let text = format!("{name} is not in the table of crates in {TABLE}; add a row");
        breaches.push(Breach { dependency: None, text });
    }
    for dependency in package.dependencies() {
        let above = layer.filter(|_| dependency.normal).and_then(|layer| above(&dependency.name, layer));
        let owner = OWNERS.iter().find(|(foreign, owner)| *foreign == dependency.name && *owner != name);
        let owner = owner.filter(|(foreign, _)| !MEASURED_AGAINST.contains(&(*foreign, name)));
        let owned =
            owner.map(|(foreign, owner)| format!("{foreign} is an affair of {owner}; go through that crate"));
        let texts = above.into_iter().chain(owned);
        breaches.extend(texts.map(|text| Breach { dependency: Some(dependency.name.clone()), text }));
    }
    breaches
}

/// What is wrong with a dependency that is one of ours but not below the layer.
fn above(dependency: &str, layer: &Layer<'_>) -> Option<String> {
    let short = match dependency.strip_prefix("kubestore")? {
        "" => "facade",
        rest => rest.trim_start_matches('-'),
    };
    let allowed = layer.below.as_ref().is_none_or(|below| below.contains(&short));
    let text =
        format!("{dependency} is not below this crate in {TABLE}; depend on what is, or move the code");
    (!allowed).then_some(text)
}

/// Those of the names that are packages in the output of `cargo tree --prefix none`.
fn in_tree<'a>(tree: &str, names: &[&'a str]) -> Vec<&'a str> {
    let packages: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    names.iter().copied().filter(|name| packages.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARCHITECTURE: &str = "| crate | holds | depends on (ours) |\n| --- | --- | --- |\n\
        | `kubestore-kv` | `Kv` | – |\n| `kubestore-lease` | leases | kv, metrics |\n| `kubestore-metrics` | names | – |\n\
        | `kubestore-store` | `Store<T>` | kv |\n| `kubestore` | the facade | any, by feature |\n\
        | `kubestore-cli` | the command | facade, admin |\n| `feature` | no crate |\n";

    fn texts(name: &str, dependencies: &str) -> Vec<String> {
        let json = format!(
            r#"{{"target_directory": "t", "packages": [{{"name": "{name}", "manifest_path": "crates/{name}/Cargo.toml",
                "features": {{}}, "targets": [], "dependencies": [{dependencies}]}}]}}"#
        );
        let metadata = Metadata::parse(&json).unwrap();
        let layers = layers(ARCHITECTURE);
        metadata
            .packages()
            .flat_map(|package| breaches(&package, &layers))
            .map(|breach| breach.text)
            .collect()
    }

    #[test]
    fn the_table_is_read() {
        let layers = layers(ARCHITECTURE);
        let names: Vec<_> = layers.iter().map(|layer| layer.name.trim_start_matches("kubestore")).collect();
        assert_eq!(names, ["-kv", "-lease", "-metrics", "-store", "", "-cli"]);
        assert_eq!(layers[1], Layer { name: "kubestore-lease", below: Some(vec!["kv", "metrics"]) });
        assert_eq!(layers[4], Layer { name: "kubestore", below: None });
    }

    #[test]
    fn a_crate_depends_on_those_below_it() {
        assert_eq!(texts("kubestore-lease", r#"{"name": "kubestore-kv", "kind": null}"#), [""; 0]);
        assert_eq!(texts("kubestore-cli", r#"{"name": "kubestore", "kind": null}"#), [""; 0]);
        assert_eq!(texts("kubestore", r#"{"name": "kubestore-kv", "kind": null}"#), [""; 0]);
        assert_eq!(texts("kubestore-kv", r#"{"name": "kubestore-embedded", "kind": "dev"}"#), [""; 0]);
        assert_eq!(
            texts("kubestore-kv", r#"{"name": "kubestore-core", "kind": null}"#),
            [
                "kubestore-core is not below this crate in ARCHITECTURE.md; depend on what is, or move the code"
            ]
        );
        assert_eq!(texts("kubestore-cli", r#"{"name": "kubestore-etcd", "kind": "build"}"#).len(), 1);
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(
            texts("kubestore-new", ""),
            ["kubestore-new is not in the table of crates in ARCHITECTURE.md; add a row"]
        );
    }

    #[test]
    fn a_crate_of_others_may_have_one_owner() {
        assert_eq!(texts("kubestore-metrics", r#"{"name": "prometheus", "kind": null}"#), [""; 0]);
        assert_eq!(
            texts("kubestore-store", r#"{"name": "prometheus", "kind": "dev"}"#),
            ["prometheus is an affair of kubestore-metrics; go through that crate"]
        );
    }

    #[test]
    fn packages_of_a_tree_are_matched_by_their_whole_name() {
        let tree = "kubestore-core v0.1.0 (/x)\ntokio-util v0.7.0\nbytes v1.0.0\nprost v1 (*)\n";
        assert_eq!(in_tree(tree, &["tokio", "prost", "bytes"]), ["prost", "bytes"]);
    }
}
