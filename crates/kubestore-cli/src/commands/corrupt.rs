//! Deleting what cannot be read.

use anyhow::{Result, bail};
use kubestore::{
    kv::GetRequest,
    transform::{TransformError, TransformErrorKind},
};

use crate::{failure, resources::Resource, session::Session};

/// Deletes an object if it cannot be read; false when there is none.
///
/// # Errors
/// It can be read, or it is not known whether it can: no key is configured for it, and `force` is not given.
pub(super) async fn delete(
    session: &Session,
    resource: &Resource,
    namespace: &str,
    name: &str,
    force: bool,
) -> Result<bool> {
    let key = resource.key(namespace, name)?;
    if !force && let Some(error) = unknown_key(session, &session.full_key(&key)).await? {
        bail!(
            "the object may be in order, since the configuration has no key for it ({}); if that key is lost for good, delete the \
             object with --force too",
            failure::chain(&error.into())
        );
    }
    match session.store(resource).delete_if_corrupt(&key).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_not_found() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Why a value cannot be judged with this configuration, if it cannot.
async fn unknown_key(session: &Session, key: &str) -> Result<Option<TransformError>> {
    use TransformErrorKind as Kind;

    let found = session.kv().get(GetRequest::new(key.to_owned())).await?.kv;
    let Some(kv) = found else { return Ok(None) };
    Ok(session.opener().open(key.as_bytes(), kv.value).await.err().filter(|error| {
        matches!(
            error.kind(),
            Kind::EncryptedButIdentity | Kind::NoMatchingPrefix | Kind::NotEncrypted | Kind::UnknownKeyName
        )
    }))
}
