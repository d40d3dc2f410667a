//! Which files, and their text.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};

use super::shown;

/// What is read of a directory.
const EXTENSIONS: [&str; 3] = ["json", "yaml", "yml"];

/// The files that `path` stands for, those of a directory in the order of their names.
pub(super) fn files(path: &Path, recursive: bool) -> Result<Vec<PathBuf>> {
    if path == Path::new("-") || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    walk(path, recursive, &mut found)?;
    if found.is_empty() {
        bail!("{}: no file in it ends in .yaml, .yml or .json", path.display());
    }
    Ok(found)
}

fn walk(directory: &Path, recursive: bool, found: &mut Vec<PathBuf>) -> Result<()> {
    let cannot = || format!("{}: the directory cannot be read", directory.display());
    let entries: io::Result<Vec<_>> =
        fs::read_dir(directory).with_context(cannot)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut entries = entries.with_context(cannot)?;
    entries.sort_unstable();
    for entry in entries {
        if entry.is_dir() {
            if recursive {
                walk(&entry, recursive, found)?;
            }
        } else if entry.extension().and_then(|extension| extension.to_str()).is_some_and(is_wanted) {
            found.push(entry);
        }
    }
    Ok(())
}

fn is_wanted(extension: &str) -> bool {
    EXTENSIONS.contains(&extension)
}

/// The name and the text of a file or of standard input.
pub(super) fn text(path: &Path) -> Result<(Arc<str>, String)> {
    let name = shown(path);
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    let bytes = bytes.with_context(|| format!("{name}: cannot be read"))?;
    let Ok(mut text) = String::from_utf8(bytes) else {
        bail!("{name}: is not UTF-8 text; objects are read as YAML or JSON");
    };
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok((name.into(), text))
}
