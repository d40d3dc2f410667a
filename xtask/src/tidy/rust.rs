//! Rules about Rust files.

use super::Finding;
use super::lexer::{code_only, is_word};
use super::text::ignored_example;

/// The most lines of a file that are not its tests.
const LONGEST: usize = 600;

/// Macros that must not be left in.
const LEFTOVERS: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

/// Crates that are an affair of one of ours only, which keeps their types out of all others.
const OWNERS: [(&str, &str); 4] = [
    ("etcd_client", "crates/kubestore-etcd/"),
    ("prometheus", "crates/kubestore-metrics/"),
    ("aes_gcm", "crates/kubestore-transform/"),
    ("fjall", "crates/kubestore-embedded/"),
];

/// What the benchmarks name all the same, to measure ours beside it.
const MEASURED_AGAINST: [(&str, &str); 1] = [("etcd_client", "benches/")];

/// Breaches in a file.
pub(super) fn check(file: &str, source: &str) -> Vec<Finding> {
    let code = code_only(source);
    let mut findings = Vec::new();
    findings.extend(opening(file, source));
    findings.extend(length(file, source, &code));
    for (number, (line, code)) in (1..).zip(source.lines().zip(code.lines())) {
        for leftover in LEFTOVERS.into_iter().filter(|leftover| has_word(code, leftover)) {
            findings.push(Finding::new(
                file,
                number,
                format!("`{leftover}` is left over; write what is missing"),
            ));
        }
        if code.contains("#[ignore]") {
            let text =
                "a test is ignored without a reason; write `#[ignore = \"what it needs\"]`, or let it run";
            findings.push(Finding::new(file, number, text));
        }
        findings.extend(foreign(file, number, code));
        let docs = line.trim_start();
        let docs = docs.strip_prefix("///").or_else(|| docs.strip_prefix("//!"));
        findings.extend(docs.and_then(|docs| ignored_example(file, number, docs)));
    }
    findings
}

/// A file opens with its docs; only inner attributes, as `#![expect(…)]`, may stand before them.
fn opening(file: &str, source: &str) -> Option<Finding> {
    let mut in_attribute = false;
    for line in source.lines() {
        if line.starts_with("//!") || line.starts_with("#![doc = include_str!") {
            return None;
        }
        in_attribute |= line.starts_with("#![");
        if !in_attribute && !line.is_empty() {
            break;
        }
        in_attribute &= !line.ends_with(']');
    }
    Some(Finding::new(file, 1, "the file does not open with `//!`; say in a line what it holds"))
}

fn length(file: &str, source: &str, code: &str) -> Option<Finding> {
    let length = if is_test_file(file) { 0 } else { source.lines().count() - test_lines(code) };
    let text =
        format!("{length} lines without tests, {LONGEST} are the most; give a part of it a file of its own");
    (length > LONGEST).then(|| Finding::new(file, None, text))
}

/// Whether a file holds nothing but tests.
pub(crate) fn is_test_file(file: &str) -> bool {
    file.ends_with("/tests.rs") || file.split('/').any(|folder| folder == "tests")
}

/// The number of lines in `#[cfg(test)]` modules at the top level of a file, given without comments and strings.
pub(crate) fn test_lines(code: &str) -> usize {
    let mut lines = code.lines().peekable();
    let mut tests = 0;
    while let Some(line) = lines.next() {
        if line.trim_end() != "#[cfg(test)]" {
            continue;
        }
        tests += 1;
        for line in lines.by_ref() {
            tests += 1;
            let line = line.trim_end();
            // The item ends where the formatter puts its closing brace, or on its only line.
            if line == "}" || (!line.starts_with([' ', '#']) && line.ends_with([';', '}'])) {
                break;
            }
        }
    }
    tests
}

fn foreign(file: &str, number: usize, code: &str) -> Vec<Finding> {
    let strangers = OWNERS.into_iter().filter(|(_, owner)| !file.starts_with(owner));
    let measured =
        |name| MEASURED_AGAINST.iter().any(|(peer, folder)| *peer == name && file.starts_with(folder));
    let named = strangers.filter(|(name, _)| names_crate(code, name) && !measured(*name));
    named
        .map(|(name, owner)| {
            let owner = owner.trim_start_matches("crates/").trim_end_matches('/');
            Finding::new(file, number, format!("`{name}` is named outside {owner}; go through that crate"))
        })
        .collect()
}

/// Whether the code names the crate: as the start of a path, or in a `use` of it.
fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let starts_a_path =
            !before.ends_with(is_word) && (!before.ends_with("::") || before.ends_with(" ::"));
        let used = before.trim_start().trim_start_matches("pub ").starts_with("use ");
        starts_a_path
            && (after.starts_with("::") || (used && !after.starts_with(is_word) && !before.contains('{')))
    })
}

fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| !code[..at].ends_with(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str, source: &str) -> Vec<String> {
        check(file, source).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_opens_with_its_docs() {
        assert_eq!(texts("a.rs", "//! Docs.\n\nfn f() {}\n"), [""; 0]);
        assert_eq!(texts("a.rs", "#![doc = include_str!(\"../README.md\")]\n"), [""; 0]);
        assert_eq!(texts("a.rs", "#![expect(\n    clippy::x,\n    reason = \"y\"\n)]\n//! Docs.\n"), [""; 0]);
        let finding = ["a.rs:1: the file does not open with `//!`; say in a line what it holds"];
        assert_eq!(texts("a.rs", "// Not docs.\n//! Too late.\n"), finding);
        assert_eq!(texts("a.rs", "use x;\n//! Too late.\n"), finding);
        assert_eq!(texts("a.rs", ""), finding);
    }

    #[test]
    fn tests_do_not_count_for_the_length() {
        let body = "fn f() {}\n".repeat(599);
        let tests = "#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        assert_eq!(texts("a.rs", &format!("//! Docs.\n{body}{tests}")), [""; 0]);
        let finding =
            ["a.rs: 601 lines without tests, 600 are the most; give a part of it a file of its own"];
        assert_eq!(texts("a.rs", &format!("//! Docs.\n{body}{tests}fn g() {{}}\n")), finding);
        assert_eq!(texts("a/tests/b.rs", &format!("//! Docs.\n{body}{body}")), [""; 0]);
    }

    #[test]
    fn the_lines_of_test_modules_are_counted() {
        assert_eq!(test_lines("fn f() {}\n#[cfg(test)]\nmod tests;\nfn g() {}\n"), 2);
        assert_eq!(test_lines("#[cfg(test)]\n#[expect(x)]\nmod tests {\n    a;\n}\nfn g() {}\n"), 5);
        assert_eq!(test_lines("impl X {\n    #[cfg(test)]\n    fn f() {}\n}\n"), 0);
    }

    #[test]
    fn leftovers_are_found_in_code_only() {
        let source = "//! todo!() is fine here.\nfn f() { todo!() }\nfn g() { \"dbg!\"; not_todo!() }\n";
        assert_eq!(texts("a.rs", source), ["a.rs:2: `todo!` is left over; write what is missing"]);
    }

    #[test]
    fn an_ignored_test_has_a_reason() {
        let source = "//! Docs.\n#[ignore]\nfn f() {}\n#[ignore = \"needs etcd\"]\nfn g() {}\n";
        let text = "a test is ignored without a reason; write `#[ignore = \"what it needs\"]`, or let it run";
        assert_eq!(texts("a.rs", source), [format!("a.rs:2: {text}")]);
    }

    #[test]
    fn an_ignored_example_is_found() {
        let found = check("a.rs", "//! ```ignore\n//! ```\n/// ```no_run\n/// ```\nfn f() {}\n");
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [Some(1)]);
    }

    #[test]
    fn foreign_crates_are_named_in_their_own_crate_only() {
        let source = "//! Docs.\nuse etcd_client::Client;\n";
        assert_eq!(texts("crates/kubestore-etcd/src/lib.rs", source), [""; 0]);
        assert_eq!(texts("benches/src/lib.rs", source), [""; 0]);
        assert_eq!(
            texts("crates/kubestore-store/src/lib.rs", source),
            [
                "crates/kubestore-store/src/lib.rs:2: `etcd_client` is named outside kubestore-etcd; go through that crate"
            ]
        );
        assert!(names_crate("let x = prometheus::Registry::new();", "prometheus"));
        assert!(names_crate("pub use aes_gcm;", "aes_gcm"));
        assert!(names_crate("use ::aes_gcm::Aes;", "aes_gcm"));
        assert!(!names_crate("kubestore_transform::aes_gcm::Key", "aes_gcm"));
        assert!(!names_crate("let prometheus = 1;", "prometheus"));
        assert!(!names_crate("my_prometheus::x", "prometheus"));
        assert!(!names_crate("use x::{y, prometheus};", "prometheus"));
    }
}
