//! A copy of the data to read, which goes when it is dropped.

use std::{
    fs::{self, DirBuilder},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Tables are never written again once they are there: a link is as good as a copy.
const TABLES: &str = "tables";

/// The folder of a copy.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Copies `data` to a new folder in `place`.
    pub(super) fn copy(data: &Path, place: Option<&Path>) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let place = place.map_or_else(std::env::temp_dir, Path::to_owned);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let scratch = Self(place.join(format!("kubestore-check-{}-{number}", std::process::id())));
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&scratch.0)?;
        copy(data, &scratch.path())?;
        Ok(scratch)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.join("data")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(scratch = %self.0.display(), %error, "a copy that was made to be looked at is left over");
        }
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    let linked = from.file_name().is_some_and(|name| name == TABLES);
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &target)?;
        } else if !(linked && fs::hard_link(&source, &target).is_ok()) {
            copy_file(&source, &target)?;
        }
    }
    Ok(())
}

/// Readable and writable whatever the original is.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut fs::File::open(from)?, &mut fs::File::create(to)?)?;
    Ok(())
}
