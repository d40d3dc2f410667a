//! `tidy`: the rules of the repository that neither the compiler nor clippy knows, as checks. Each breach is reported with its place and its
//! remedy.

mod faults;
mod graph;
mod lexer;
mod manifest;
mod rust;
mod text;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

pub(crate) use self::rust::{is_test_file, test_lines};
use crate::command::root;

/// A breach of a rule.
#[derive(Debug, Eq, PartialEq)]
struct Finding {
    /// Relative to the root folder.
    file: String,
    /// Counted from one; none where the file as a whole is meant.
    line: Option<usize>,
    /// What is wrong, and what to do about it.
    text: String,
}

impl Finding {
    fn new(file: &str, line: impl Into<Option<usize>>, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: line.into(), text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.text),
            None => write!(f, "{}: {}", self.file, self.text),
        }
    }
}

/// Checks every file of the repository, the manifests and what the crates depend on.
pub(crate) fn run_task() -> Result<()> {
    let root = root();
    let mut files = Vec::new();
    collect(&root, "", &mut files)?;
    let mut findings = Vec::new();
    for file in &files {
        let bytes = fs::read(root.join(file)).with_context(|| format!("cannot read {file}"))?;
        // What is not text is data, about which there are no rules.
        let Ok(content) = String::from_utf8(bytes) else { continue };
        findings.extend(check(file, &content));
    }
    findings.extend(manifest::check_crates(&root, &files)?);
    findings.extend(graph::check(&root)?);
    findings.extend(faults::check(&root, &files)?);
    if findings.is_empty() {
        crate::schema::run_task(true)?;
        eprintln!("tidy: {} files in order", files.len());
        return Ok(());
    }
    for finding in &findings {
        eprintln!("{finding}");
    }
    bail!("rules broken: {}", findings.len());
}

fn check(file: &str, content: &str) -> Vec<Finding> {
    let mut findings = text::check(file, content);
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str());
    match (extension, file.rsplit('/').next()) {
        (Some("rs"), _) => findings.extend(rust::check(file, content)),
        (_, Some("Cargo.toml")) => findings.extend(manifest::check(file, content)),
        (_, Some("Cargo.lock")) => findings.extend(manifest::check_lock(file, content)),
        _ => {}
    }
    findings
}

/// The Rust files of the repository, relative to the root, sorted.
pub(crate) fn source_files() -> Result<Vec<String>> {
    let mut files = Vec::new();
    collect(&root(), "", &mut files)?;
    files.retain(|file| Path::new(file).extension().is_some_and(|extension| extension == "rs"));
    Ok(files)
}

/// The files under a folder, relative to the root, sorted; build output and the repository's own records left out.
fn collect(root: &Path, folder: &str, files: &mut Vec<String>) -> Result<()> {
    let absolute = root.join(folder);
    let entries = fs::read_dir(&absolute).with_context(|| format!("cannot read {}", absolute.display()))?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() && name != "target" && name != ".git" {
            collect(root, &path, files)?;
        } else if kind.is_file() && name != ".git" {
            files.push(path);
        }
    }
    Ok(())
}
