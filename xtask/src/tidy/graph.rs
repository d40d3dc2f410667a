//! Rules about what depends on what: the table of layers in ARCHITECTURE.md.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::Finding;
use super::manifest::line_of;
use crate::command::{cargo, read};
use crate::metadata::{Metadata, Package};

/// Which of our crates each of them may depend on. Dependencies of tests are free.
const LAYERS: [(&str, &[&str]); 14] = [
    ("kubestore-core", &[]),
    ("kubestore-kv", &[]),
    ("kubestore-metrics", &[]),
    ("kubestore-transform", &["metrics"]),
    ("kubestore-codec", &["core"]),
    ("kubestore-lease", &["kv", "metrics"]),
    ("kubestore-etcd", &["kv"]),
    ("kubestore-embedded", &["kv"]),
    ("kubestore-snapshot", &["kv"]),
    ("kubestore-store", &["core", "kv", "transform", "lease", "metrics"]),
    ("kubestore-admin", &["core", "kv", "transform", "codec"]),
    ("kubestore-conformance", &["core", "kv"]),
    (
        "kubestore",
        &[
            "core",
            "kv",
            "metrics",
            "transform",
            "codec",
            "lease",
            "etcd",
            "embedded",
            "snapshot",
            "store",
            "admin",
            "conformance",
        ],
    ),
    ("kubestore-cli", &["", "admin"]),
];

/// Crates of others that one of ours keeps to itself.
const OWNERS: [(&str, &str); 3] = [
    ("etcd-client", "kubestore-etcd"),
    ("prometheus", "kubestore-metrics"),
    ("aes-gcm", "kubestore-transform"),
];

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
    let mut findings = Vec::new();
    for package in metadata.packages() {
        let manifest = package.manifest();
        let file = manifest.strip_prefix(root).unwrap_or(&manifest).display().to_string();
        let content = fs::read_to_string(&manifest)?;
        for text in breaches(&package) {
            let line = text.dependency.as_deref().and_then(|name| line_of(&content, name));
            findings.push(Finding::new(&file, line, text.text));
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

fn breaches(package: &Package<'_>) -> Vec<Breach> {
    let name = package.name();
    let row = LAYERS.iter().find(|(layer, _)| *layer == name);
    let mut breaches = Vec::new();
    if row.is_none() && package.manifest().components().any(|part| part.as_os_str() == "crates") {
        let text =
            format!("{name} is no layer of ARCHITECTURE.md; add it there and in xtask/src/tidy/graph.rs");
        breaches.push(Breach { dependency: None, text });
    }
    for dependency in package.dependencies() {
        let breach = match row {
            Some((_, allowed)) if dependency.normal => above(&dependency.name, allowed),
            _ => None,
        };
        let owner = OWNERS.iter().find(|(foreign, owner)| *foreign == dependency.name && *owner != name);
        let owned =
            owner.map(|(foreign, owner)| format!("{foreign} is an affair of {owner}; go through that crate"));
        let texts = breach.into_iter().chain(owned);
        breaches.extend(texts.map(|text| Breach { dependency: Some(dependency.name.clone()), text }));
    }
    breaches
}

/// What is wrong with a dependency that is one of ours but not among the allowed ones.
fn above(dependency: &str, allowed: &[&str]) -> Option<String> {
    let layer = dependency.strip_prefix("kubestore")?.trim_start_matches('-');
    let text = format!(
        "{dependency} is not below this layer in ARCHITECTURE.md; depend on what is, or move the code"
    );
    (!allowed.contains(&layer)).then_some(text)
}

/// Those of the names that are packages in the output of `cargo tree --prefix none`.
fn in_tree<'a>(tree: &str, names: &[&'a str]) -> Vec<&'a str> {
    let packages: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    names.iter().copied().filter(|name| packages.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, dependencies: &str) -> Vec<String> {
        let json = format!(
            r#"{{"target_directory": "t", "packages": [{{"name": "{name}", "manifest_path": "crates/{name}/Cargo.toml",
                "features": {{}}, "targets": [], "dependencies": [{dependencies}]}}]}}"#
        );
        let metadata = Metadata::parse(&json).unwrap();
        metadata.packages().flat_map(|package| breaches(&package)).map(|breach| breach.text).collect()
    }

    #[test]
    fn a_crate_depends_on_the_layers_below_it() {
        assert_eq!(texts("kubestore-lease", r#"{"name": "kubestore-kv", "kind": null}"#), [""; 0]);
        assert_eq!(texts("kubestore-cli", r#"{"name": "kubestore", "kind": null}"#), [""; 0]);
        assert_eq!(texts("kubestore-kv", r#"{"name": "kubestore-embedded", "kind": "dev"}"#), [""; 0]);
        assert_eq!(
            texts("kubestore-kv", r#"{"name": "kubestore-core", "kind": null}"#),
            [
                "kubestore-core is not below this layer in ARCHITECTURE.md; depend on what is, or move the code"
            ]
        );
        assert_eq!(texts("kubestore-cli", r#"{"name": "kubestore-etcd", "kind": "build"}"#).len(), 1);
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        assert_eq!(
            texts("kubestore-new", ""),
            ["kubestore-new is no layer of ARCHITECTURE.md; add it there and in xtask/src/tidy/graph.rs"]
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
