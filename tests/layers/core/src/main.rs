//! `kubestore-core` alone: keys, continue tokens, selectors and errors, as a server uses them that has a store of its own.

use std::error::Error;

use kubestore_core::{ContinueToken, PathPrefix, Predicate, StorageError};

fn main() -> Result<(), Box<dyn Error>> {
    let prefix = PathPrefix::new("registry").prepare_recursive("pods")?;
    let token = ContinueToken::encode(b"/registry/pods/default/b", &prefix, 7)?;
    let next = ContinueToken::decode(&token, &prefix)?;
    assert_eq!((next.start_key.as_str(), next.revision), ("/registry/pods/default/b", 7));
    assert!(ContinueToken::decode(&token[1..], &prefix).is_err());

    let predicate = Predicate::new("app in (web, api), !canary".parse()?, "spec.nodeName=n1".parse()?);
    let mut found = predicate.wanted().nothing_found();
    assert!(!predicate.matches(&found));
    found.labels[0] = Some("api".into());
    found.fields[0] = Some("n1".into());
    assert!(predicate.matches(&found));

    let error = StorageError::too_large_resource_version(9, 7, 1);
    assert!(error.is_too_large_resource_version() && error.is_retryable());
    assert_eq!((error.status().code, error.status().retry_after_seconds), (504, 1));
    Ok(())
}
