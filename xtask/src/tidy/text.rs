//! Rules about any text file.

use super::Finding;

/// Folders that name places on one machine. Spelled in two parts, so that this file does not break its own rule.
const MACHINE_FOLDERS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/fa", "rm/")];

/// Breaches in a file. Data of tests is kept byte for byte as it was recorded, and lock files are cargo's.
pub(super) fn check(file: &str, content: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if file.ends_with(".lock") || file.contains("/data/") || file.contains("/vectors/") {
        return findings;
    }
    for (number, line) in (1..).zip(content.split('\n')) {
        if line.ends_with('\r') {
            findings.push(Finding::new(
                file,
                number,
                "a carriage return ends the line; write Unix line ends",
            ));
        } else if line.ends_with([' ', '\t']) {
            findings.push(Finding::new(file, number, "white space ends the line; delete it"));
        }
        if let Some(folder) = MACHINE_FOLDERS.into_iter().find(|folder| names_folder(line, folder)) {
            let text = format!("`{folder}` is a folder of one machine; name it relative to the repository");
            findings.push(Finding::new(file, number, text));
        }
        if file.ends_with(".md") && !file.starts_with('.') {
            findings.extend(ignored_example(file, number, line));
        }
    }
    if !content.is_empty() && !content.ends_with('\n') {
        findings.push(Finding::new(file, content.lines().count(), "the last line has no end; add a newline"));
    }
    findings
}

/// Whether an absolute path into the folder stands in the line; `a/work/b` and `https://host/work/` are none.
fn names_folder(line: &str, folder: &str) -> bool {
    let mut before = line.match_indices(folder).map(|(at, _)| line[..at].chars().next_back());
    before.any(|previous| previous.is_none_or(|c| !(c.is_alphanumeric() || "._-/}$*".contains(c))))
}

/// A breach if the line opens a code block that is marked as not to be compiled. `line` is Markdown.
pub(super) fn ignored_example(file: &str, number: usize, line: &str) -> Option<Finding> {
    let mut words = line.trim_start().strip_prefix("```")?.split([',', ' ']).map(str::trim);
    let text =
        "the example is not compiled; make it compile (`no_run` if it needs a server) or mark it `text`";
    words.any(|word| word == "ignore").then(|| Finding::new(file, number, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &str, content: &str) -> Vec<usize> {
        check(file, content).into_iter().filter_map(|finding| finding.line).collect()
    }

    #[test]
    fn line_ends_are_checked() {
        assert_eq!(lines("a.txt", "one\ntwo \nthree\t\nfour\r\nfive\n"), [2, 3, 4]);
        assert_eq!(lines("a.txt", "one\ntwo"), [2]);
        assert_eq!(lines("a.txt", ""), [0; 0]);
        assert_eq!(lines("tests/data/recorded/a.txt", "one \n"), [0; 0]);
    }

    #[test]
    fn machine_folders_are_found_at_the_start_of_a_path_only() {
        let [first, second, _] = MACHINE_FOLDERS;
        assert_eq!(lines("a.md", &format!("see `{first}x`\n{second}y\nthe end\n")), [1, 2]);
        assert_eq!(lines("a.md", &format!("a{first}x and https://host.example{first}x\n")), [0; 0]);
        assert_eq!(lines("Cargo.lock", &format!("{first}x\n")), [0; 0]);
    }

    #[test]
    fn ignored_examples_in_markdown_are_found() {
        assert_eq!(
            lines("README.md", "```rust,ignore\n```\n```no_run\n```\n```ignore\n```\nignore\n"),
            [1, 5]
        );
    }
}
