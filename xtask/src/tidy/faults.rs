//! The list of faults that are tried: each test that it names exists.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Finding;
use super::lexer::is_word;

/// The list.
const LIST: &str = "tests/FAULTS.md";

/// Tests that the list names and no source has.
pub(super) fn check(root: &Path, files: &[String]) -> Result<Vec<Finding>> {
    let list = fs::read_to_string(root.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let mut known = HashSet::new();
    let may_have_tests = |file: &str| file.starts_with("crates/") || file.starts_with("tests/");
    for file in files.iter().filter(|file| may_have_tests(file) && file.ends_with(".rs")) {
        let source = fs::read_to_string(root.join(file)).with_context(|| format!("cannot read {file}"))?;
        known.extend(source.lines().filter_map(declared).map(str::to_owned));
    }
    Ok(missing(&list, &known))
}

/// The function that a line begins, or the test that a line of a macro makes.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let function = line.split_once("fn ").filter(|(before, _)| !before.contains("//")).map(|(_, rest)| rest);
    let (name, rest) = split_word(function.unwrap_or(line));
    let made = function.is_some() || rest.starts_with(": ");
    (made && !name.is_empty()).then_some(name)
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

fn missing(list: &str, known: &HashSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(list.lines()) {
        let quoted = line.split('`').skip(1).step_by(2);
        for name in quoted.filter(|name| is_test_name(name) && !known.contains(*name)) {
            let text = format!("there is no test `{name}`; name the one that shows this, or write it");
            findings.push(Finding::new(LIST, number, text));
        }
    }
    findings
}

/// Code of other kinds has other characters, or no underscore.
fn is_test_name(quoted: &str) -> bool {
    quoted.contains('_') && quoted.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_lines_of_macros_are_tests() {
        let names: Vec<_> = [
            "    pub async fn a_b(harness: &dyn Harness) {",
            "fn c_d() {",
            "    e_f: Flaw, get::case;",
            "// fn g_h() {",
            "let i_j = 1;",
        ]
        .into_iter()
        .filter_map(declared)
        .collect();
        assert_eq!(names, ["a_b", "c_d", "e_f"]);
    }

    #[test]
    fn a_test_that_is_gone_is_named_with_its_line() {
        let known = HashSet::from(["a_b".to_owned()]);
        let found = missing("`a_b` and `cargo test`\n| x | `a_b`, `c_d` | `Type`, `x::y_z` |\n", &known);
        let places: Vec<_> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(places, [Some(2)]);
        assert!(found[0].text.contains("`c_d`"));
    }
}
