//! How a directory is made, and what keeps one from being opened.

use std::path::Path;

use kubestore_kv::{BoxError, KvError, KvErrorKind};

use super::{
    base::{Base, Batch, WriteError},
    codec::{META_KEY, Meta},
    directory::{Directory, base_error, directory_error},
    journal::Damage,
    mark::{Acknowledged, Mark},
};

/// How a base is opened.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opening {
    /// Made anew.
    Make,
    /// With all that was acknowledged, as far as that is known.
    Again(Option<Acknowledged>),
}

/// Makes the data of a fresh directory.
pub(super) fn create<F>(
    directory: &Directory,
    mark: &mut Mark,
    acknowledged: Option<Acknowledged>,
    open: &F,
) -> Result<(), KvError>
where
    F: Fn(&Path, Opening) -> Result<Box<dyn Base>, BoxError>,
{
    if let Some(acknowledged) = acknowledged.filter(|acknowledged| acknowledged.sequence > 1) {
        let message = format!(
            "data is missing, although revisions up to {} were acknowledged; restore the directory from a backup, or \
             empty it to begin anew",
            acknowledged.head
        );
        return Err(directory_error(KvErrorKind::Corrupt, directory.path(), &message));
    }
    let failed = |error: BoxError| base_error(directory.path(), error);
    let meta = Meta { sequence: 1, ..Meta::EMPTY };
    let first = Batch { puts: vec![(META_KEY.to_vec(), meta.encode())], removes: Vec::new() };
    let mut base = open(&directory.prepare()?, Opening::Make).map_err(failed)?;
    base.write(&first, true).map_err(|error| match error {
        WriteError::Refused(error) | WriteError::NotSynced(error) => failed(error),
    })?;
    drop(base);
    let marked = mark.write(Acknowledged { sequence: 1, head: meta.head }).and_then(|()| mark.sync());
    marked.map_err(|error| failed(error.into()))?;
    directory.adopt()
}

pub(super) fn open_mark(directory: &Directory) -> Result<Mark, KvError> {
    Mark::open(&directory.mark()).map_err(|error| base_error(directory.path(), error.into()))
}

pub(super) fn read_mark(mark: &mut Mark, directory: &Directory) -> Result<Option<Acknowledged>, KvError> {
    mark.read().map_err(|error| {
        let message = "the file acknowledged is damaged, so that a loss of the newest writes would not show; look at \
                       the disk, then remove the file to open without it";
        directory_error(KvErrorKind::Corrupt, directory.path(), message).with_source(error)
    })
}

pub(super) fn check_complete(
    directory: &Directory,
    acknowledged: Acknowledged,
    meta: &Meta,
) -> Result<(), KvError> {
    if meta.sequence >= acknowledged.sequence {
        return Ok(());
    }
    Err(lost(directory, meta.head, acknowledged))
}

fn lost(directory: &Directory, head: i64, acknowledged: Acknowledged) -> KvError {
    let lost = if head < acknowledged.head {
        format!("revisions {} to {}", head + 1, acknowledged.head)
    } else {
        "the newest leases or compactions".to_owned()
    };
    let message = format!(
        "{lost} were acknowledged and are missing, because the journal in data is damaged; restore the directory from \
         a backup, or remove the file acknowledged to go on without them"
    );
    directory_error(KvErrorKind::Corrupt, directory.path(), &message)
}

/// What kept a base from being opened.
pub(super) fn opening_error(directory: &Directory, error: BoxError) -> KvError {
    match error.downcast_ref::<Damage>() {
        Some(Damage::Lost { head, acknowledged }) => lost(directory, *head, *acknowledged),
        _ => base_error(directory.path(), error),
    }
}
