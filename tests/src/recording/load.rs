//! Scenario files, folders of them, and packs.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use serde::de::Error as _;

use super::Scenario;

/// A scenario and where it came from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The file, or the pack and the file in it.
    pub source: String,
    /// What it says.
    pub scenario: Scenario,
}

/// Reads files, folders (all `.json` files in them and below, and packs), and packs (`.tar.gz` of such files), in the
/// order of their names.
///
/// # Errors
/// A path cannot be read, a file is no scenario, or there is no scenario at all; the error names the file.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Loaded>> {
    let mut loaded = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = loaded.len();
            load_folder(path, &mut loaded)?;
            if loaded.len() == before {
                bail!("{}: no scenario files in this folder; they end in .json", path.display());
            }
        } else {
            load_file(path, &mut loaded)?;
        }
    }
    Ok(loaded)
}

fn load_folder(folder: &Path, loaded: &mut Vec<Loaded>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            load_folder(&path, loaded)?;
        } else if is_pack(&path) || path.extension().is_some_and(|extension| extension == "json") {
            load_file(&path, loaded)?;
        }
    }
    Ok(())
}

fn load_file(path: &Path, loaded: &mut Vec<Loaded>) -> Result<()> {
    let name = path.display().to_string();
    if is_pack(path) {
        return load_pack(path, loaded).with_context(|| name);
    }
    let text = fs::read(path).with_context(|| name.clone())?;
    let scenario = parse(&text).with_context(|| name.clone())?;
    loaded.push(Loaded { source: name, scenario });
    Ok(())
}

fn load_pack(path: &Path, loaded: &mut Vec<Loaded>) -> Result<()> {
    let mut pack = tar::Archive::new(GzDecoder::new(File::open(path)?));
    let mut found = Vec::new();
    for entry in pack.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.display().to_string();
        if entry.header().entry_type().is_file() && name.ends_with(".json") {
            let mut text = Vec::new();
            entry.read_to_end(&mut text)?;
            let scenario = parse(&text).with_context(|| name.clone())?;
            found.push(Loaded { source: format!("{}:{name}", path.display()), scenario });
        }
    }
    if found.is_empty() {
        bail!("no scenario files in this pack");
    }
    found.sort_by(|a, b| a.source.cmp(&b.source));
    loaded.extend(found);
    Ok(())
}

fn is_pack(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".tar.gz") || name.ends_with(".tgz")
}

fn parse(text: &[u8]) -> serde_json::Result<Scenario> {
    let scenario: Scenario = serde_json::from_slice(text)?;
    for (number, step) in scenario.steps.iter().enumerate() {
        if step.expect.is_none() {
            return Err(serde_json::Error::custom(format!(
                "step {number} has no expect: this is not a recording; make one of it with the recorder"
            )));
        }
    }
    Ok(scenario)
}

/// The recordings that are kept with these tests.
#[cfg(test)]
pub(crate) fn committed() -> Vec<Loaded> {
    load(&[PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/conformance.tar.gz")]).unwrap()
}
