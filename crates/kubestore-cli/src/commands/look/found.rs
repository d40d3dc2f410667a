//! A key as somebody names it, and what is there.

use anyhow::{Result, bail};
use bytes::Bytes;
use kubestore::{
    codec::Unstructured,
    kv::{GetRequest, KeyValue, KvErrorKind, Revision},
};

use crate::{args::KeyArg, failure, object::Opener, resources::check_name, session::Session};

/// The whole key that is meant.
///
/// # Errors
/// It is neither a whole key nor the name of an object.
pub(super) async fn whole_key(session: &mut Session, name: &str) -> Result<String> {
    if name.starts_with('/') {
        return Ok(name.to_owned());
    }
    let Some((resource, name)) = name.split_once('/') else {
        bail!(
            "{name:?} is no key; write RESOURCE/NAME (pod/web), or a whole key with its slash in front \
             (/registry/pods/default/web)"
        );
    };
    let resource = session.catalog.by_name(resource).await?;
    check_name(&resource, name)?;
    Ok(session.full_key(&resource.key(session.namespace(), name)?))
}

/// What is at a key, and the newest revision of the store.
///
/// # Errors
/// The revision is compacted or still to come, or the store does not answer.
pub(super) async fn read(
    session: &Session,
    key: &str,
    revision: Option<Revision>,
) -> Result<(Option<KeyValue>, Revision)> {
    let request = GetRequest::new(key.to_owned());
    let request = match revision {
        Some(revision) => request.at(revision),
        None => request,
    };
    match session.kv().get(request).await {
        Ok(answer) => Ok((answer.kv, answer.head)),
        Err(error) if error.kind() == KvErrorKind::Compacted => {
            let hint = format!("what is left of the key is shown by `kubestore history {key}`");
            Err(failure::with_hint(error, &hint))
        }
        Err(error) => Err(error.into()),
    }
}

/// Says that there is nothing at a key.
pub(super) fn missing(key: &str, arg: &KeyArg) -> anyhow::Error {
    match arg.revision {
        Some(revision) => {
            anyhow::anyhow!("{key} was not there at revision {revision}; see `kubestore history {key}`")
        }
        None => anyhow::anyhow!(
            "{key} is not there; `kubestore history {key}` shows what is left of it, `kubestore keys` what there is"
        ),
    }
}

/// The object in a value.
///
/// # Errors
/// It cannot be opened or decoded.
pub(super) async fn object(opener: &Opener, kv: &KeyValue) -> Result<Unstructured> {
    let plain = plain(opener, &kv.key, kv.value.clone()).await?;
    Ok(opener.decode(plain)?)
}

/// What is inside of a value.
pub(super) async fn plain(opener: &Opener, key: &[u8], stored: Bytes) -> Result<Bytes> {
    match opener.open(key, stored).await {
        Ok(opened) => Ok(opened.data),
        Err(error) if opener.has_keys() => Err(error.into()),
        Err(error) => {
            Err(failure::with_hint(error, "--encryption-config names the configuration with its key"))
        }
    }
}
