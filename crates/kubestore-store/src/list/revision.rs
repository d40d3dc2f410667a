//! Which state a list reads.

use kubestore_core::{
    ListOptions, ResourceVersionMatch, Result, Scope, StorageError, parse_resource_version,
};
use kubestore_kv::Revision;

/// The revision to read at; `None` is the newest. `continued` is the revision of the continue token, if there is one: 0 and
/// below mean the newest.
pub(super) fn wanted_revision(options: &ListOptions, continued: Option<i64>) -> Result<Option<Revision>> {
    let version = options.resource_version.as_str();
    if let Some(revision) = continued {
        if !matches!(version, "" | "0") {
            return Err(StorageError::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        return Ok(positive(revision));
    }
    if version.is_empty() {
        return Ok(None);
    }
    let number =
        parse_resource_version(version).map_err(|error| StorageError::bad_resource_version(&error))?;
    // What does not fit the backend's signed revision reads the newest state, and is then found to be too large.
    let exact = positive(number.cast_signed());
    match &options.resource_version_match {
        ResourceVersionMatch::NotOlderThan => Ok(None),
        ResourceVersionMatch::Exact => Ok(exact),
        ResourceVersionMatch::Unset if options.scope == Scope::Recursive && options.limit > 0 => Ok(exact),
        ResourceVersionMatch::Unset => Ok(None),
        other => Err(StorageError::other(format!("unknown ResourceVersionMatch value: {}", other.as_str()))),
    }
}

fn positive(revision: i64) -> Option<Revision> {
    (revision > 0).then_some(Revision(revision))
}
