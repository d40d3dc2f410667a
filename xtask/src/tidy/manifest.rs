//! Rules about manifests and lock files, read line by line.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::Finding;

/// Breaches in a manifest. The root's is where versions stand; those outside the workspace cannot take them from it.
pub(super) fn check(file: &str, content: &str) -> Vec<Finding> {
    let mut findings = unsorted(file, content);
    if !is_member(file) {
        return findings;
    }
    for dependency in dependencies(content) {
        // A crate may name itself, to test with a feature of its own.
        if !dependency.text.contains("workspace = true") && !dependency.text.contains("path = \".\"") {
            let text = format!(
                "`{}` has a version of its own; name it in the root's [workspace.dependencies] and write `workspace = true`",
                dependency.name
            );
            findings.push(Finding::new(file, dependency.line, text));
        }
    }
    if !content.contains("\n[lints]\nworkspace = true\n") {
        findings.push(Finding::new(
            file,
            None,
            "the workspace's lints are not in force; add `[lints] workspace = true`",
        ));
    }
    if file.starts_with("crates/") && !content.contains("\nversion.workspace = true\n") {
        findings.push(Finding::new(
            file,
            None,
            "the family has one version; write `version.workspace = true`",
        ));
    }
    findings
}

/// Breaches in a lock file.
pub(super) fn check_lock(file: &str, content: &str) -> Vec<Finding> {
    let numbered = (1..).zip(content.lines());
    let git = numbered.filter(|(_, line)| line.starts_with("source = \"git+"));
    git.map(|(number, _)| Finding::new(file, number, "a dependency comes from git; take a published version"))
        .collect()
}

/// Breaches in the set of a crate's files: a README that is also the docs of the library.
pub(super) fn check_crates(root: &Path, files: &[String]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let manifests = files.iter().filter(|file| file.starts_with("crates/"));
    for folder in manifests.filter_map(|file| file.strip_suffix("/Cargo.toml")) {
        let library = format!("{folder}/src/lib.rs");
        if !files.contains(&format!("{folder}/README.md")) {
            findings.push(Finding::new(
                folder,
                None,
                "the crate has no README.md; say what it is for, with an example",
            ));
        } else if files.contains(&library) {
            let source = fs::read_to_string(root.join(&library))?;
            if !source.contains("#![doc = include_str!(\"../README.md\")]") {
                let text = "the README is not the crate's docs; open with `#![doc = include_str!(\"../README.md\")]`";
                findings.push(Finding::new(&library, 1, text));
            }
        }
    }
    Ok(findings)
}

/// Where a dependency stands in a manifest.
pub(super) fn line_of(content: &str, name: &str) -> Option<usize> {
    dependencies(content)
        .into_iter()
        .find(|dependency| dependency.name == name)
        .map(|dependency| dependency.line)
}

struct Dependency<'a> {
    name: &'a str,
    line: usize,
    text: &'a str,
    /// Counts the runs of dependencies with nothing between them.
    run: usize,
}

fn dependencies(content: &str) -> Vec<Dependency<'_>> {
    let mut found = Vec::new();
    let mut in_table = false;
    let mut run = 0;
    for (line, text) in (1..).zip(content.lines()) {
        if text.starts_with('[') {
            in_table = text.ends_with("dependencies]");
        }
        let name = text.split(['.', '=', ' ']).next().unwrap_or("");
        if !in_table || name.is_empty() || !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            run += 1;
        } else {
            found.push(Dependency { name, line, text, run });
        }
    }
    found
}

fn unsorted(file: &str, content: &str) -> Vec<Finding> {
    let dependencies = dependencies(content);
    let pairs =
        dependencies.windows(2).filter(|pair| pair[0].run == pair[1].run && pair[0].name > pair[1].name);
    pairs
        .map(|pair| {
            let text = format!("`{}` comes before `{}`; sort the dependencies", pair[1].name, pair[0].name);
            Finding::new(file, pair[1].line, text)
        })
        .collect()
}

fn is_member(file: &str) -> bool {
    let folder = file.strip_suffix("/Cargo.toml").unwrap_or("");
    matches!(folder, "xtask" | "tests" | "benches")
        || (folder.starts_with("crates/") && folder.matches('/').count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"x\"\nversion.workspace = true\n\n[dependencies]\nbytes.workspace = true\n\
        tokio = { workspace = true, features = [\n    \"rt\",\n] }\n\n[lints]\nworkspace = true\n";

    fn texts(file: &str, content: &str) -> Vec<String> {
        check(file, content).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_good_manifest_passes() {
        assert_eq!(texts("crates/x/Cargo.toml", GOOD), [""; 0]);
    }

    #[test]
    fn versions_stand_in_the_root_only() {
        let bad = GOOD.replace("bytes.workspace = true", "bytes = \"1\"");
        let text = "`bytes` has a version of its own; name it in the root's [workspace.dependencies] and write `workspace = true`";
        assert_eq!(texts("crates/x/Cargo.toml", &bad), [format!("crates/x/Cargo.toml:6: {text}")]);
        assert_eq!(texts("tests/layers/x/Cargo.toml", &bad), [""; 0]);
        let itself = GOOD.replace("tokio = {", "x = { path = \".\", features = [\"y\"] }\nzeroize = {");
        assert_eq!(texts("crates/x/Cargo.toml", &itself), [""; 0]);
        let bad = GOOD.replace("version.workspace = true", "version = \"1.0.0\"");
        let text = "the family has one version; write `version.workspace = true`";
        assert_eq!(texts("crates/x/Cargo.toml", &bad), [format!("crates/x/Cargo.toml: {text}")]);
    }

    #[test]
    fn the_lints_of_the_workspace_are_in_force() {
        let bad = GOOD.replace("[lints]\nworkspace = true\n", "");
        let text = "the workspace's lints are not in force; add `[lints] workspace = true`";
        assert_eq!(texts("xtask/Cargo.toml", &bad), [format!("xtask/Cargo.toml: {text}")]);
    }

    #[test]
    fn dependencies_are_sorted_within_a_run() {
        let good =
            "[workspace.dependencies]\n# Ours.\nx = \"1\"\n\n# Theirs.\na = \"1\"\nb.version = \"1\"\n";
        assert_eq!(texts("Cargo.toml", good), [""; 0]);
        let bad = "[dependencies]\nb = \"1\"\na = \"1\"\n[dev-dependencies]\na = \"1\"\n";
        assert_eq!(texts("Cargo.toml", bad), ["Cargo.toml:3: `a` comes before `b`; sort the dependencies"]);
        assert_eq!(line_of(bad, "a"), Some(3));
        assert_eq!(line_of(bad, "c"), None);
    }

    #[test]
    fn dependencies_come_from_a_registry() {
        let lock = "[[package]]\nname = \"x\"\nsource = \"git+https://host.example/x\"\n";
        assert_eq!(check_lock("Cargo.lock", lock).first().and_then(|finding| finding.line), Some(3));
        assert_eq!(check_lock("Cargo.lock", "source = \"registry+https://host.example\"\n"), []);
    }
}
