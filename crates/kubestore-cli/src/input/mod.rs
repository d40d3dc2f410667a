//! Objects from files.

mod document;
mod expand;
mod json;
mod source;
mod yaml;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Result, bail};
use kubestore::codec::Unstructured;

/// One object as somebody wrote it.
pub(crate) struct Document {
    pub(crate) origin: Origin,
    pub(crate) object: Unstructured,
}

/// Where an object was written.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    file: Arc<str>,
    /// The first line of the document, from 1.
    line: usize,
    /// The place in a list.
    item: Option<usize>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.item {
            Some(item) => write!(f, " items[{item}]"),
            None => Ok(()),
        }
    }
}

/// Reads all objects of files, directories and standard input (`-`), lists taken apart.
///
/// # Errors
/// Something cannot be read or is not an object, or there is none at all.
pub(crate) fn read(paths: &[PathBuf], recursive: bool) -> Result<Vec<Document>> {
    let mut documents = Vec::new();
    for path in paths {
        let before = documents.len();
        for file in source::files(path, recursive)? {
            let (name, text) = source::text(&file)?;
            document::parse(&name, &text, &mut documents)?;
        }
        if documents.len() == before {
            bail!("{}: there is no object in it; write at least one", shown(path));
        }
    }
    Ok(documents)
}

/// How a path is called in messages.
fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}
