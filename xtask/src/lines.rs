//! `lines`: how long each crate is.

use std::fs;

use anyhow::Result;

use crate::command::root;
use crate::tidy::{is_test_file, source_files, test_lines};

#[derive(Default)]
struct Count {
    files: usize,
    code: usize,
    docs: usize,
    tests: usize,
}

/// Prints a table: for each package its files, lines of code (blank ones and comments included), of docs and of tests.
pub(crate) fn run_task() -> Result<()> {
    let mut counts: Vec<(String, Count)> = Vec::new();
    for file in source_files()? {
        let package = package(&file).to_owned();
        if counts.last().is_none_or(|(last, _)| *last != package) {
            counts.push((package, Count::default()));
        }
        let Some((_, count)) = counts.last_mut() else { continue };
        let source = fs::read_to_string(root().join(&file))?;
        let lines = source.lines().count();
        let tests = if is_test_file(&file) { lines } else { test_lines(&source) };
        let is_docs = |line: &&str| line.trim_start().starts_with("///") || line.starts_with("//!");
        let docs = if is_test_file(&file) { 0 } else { source.lines().filter(is_docs).count() };
        count.files += 1;
        count.docs += docs;
        count.tests += tests;
        count.code += lines.saturating_sub(tests + docs);
    }
    println!("{:<24}{:>8}{:>8}{:>8}{:>8}", "package", "files", "code", "docs", "tests");
    for (package, Count { files, code, docs, tests }) in counts {
        println!("{package:<24}{files:>8}{code:>8}{docs:>8}{tests:>8}");
    }
    Ok(())
}

/// What a file is counted for: its crate, or its folder in the root.
fn package(file: &str) -> &str {
    let (outer, inner) = file.split_once('/').unwrap_or((file, ""));
    match (outer, inner.split_once('/')) {
        ("crates", Some((name, _))) => name,
        ("tests", Some(("layers", _))) => "tests/layers",
        _ => outer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_for_their_crate_or_their_folder() {
        assert_eq!(package("crates/kubestore-kv/src/kv.rs"), "kubestore-kv");
        assert_eq!(package("crates/kubestore/examples/x.rs"), "kubestore");
        assert_eq!(package("tests/layers/kv/src/main.rs"), "tests/layers");
        assert_eq!(package("tests/suites/kv.rs"), "tests");
        assert_eq!(package("xtask/src/tidy/mod.rs"), "xtask");
    }
}
