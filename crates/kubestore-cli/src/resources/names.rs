//! Names of objects and namespaces.

use anyhow::{Result, bail};

use super::Resource;

/// Refuses what cannot be part of a key.
pub(crate) fn check_name(resource: &Resource, name: &str) -> Result<()> {
    let what = resource.full_name();
    if name.is_empty() {
        bail!("{what}: the name is empty; write one");
    }
    if name == "." || name == ".." || name.contains(['/', '%']) {
        bail!(
            "{what}: the name {name:?} cannot be part of a path; it must not be . or .. nor contain / or %"
        );
    }
    Ok(())
}

/// Refuses a name that no API server would have taken either.
pub(crate) fn check_new_name(resource: &Resource, name: &str) -> Result<()> {
    check_name(resource, name)?;
    let is_free = matches!(
        (resource.inner.group(), resource.inner.plural()),
        ("rbac.authorization.k8s.io" | "certificates.k8s.io" | "apiregistration.k8s.io", _)
            | ("networking.k8s.io", "ipaddresses")
    );
    if is_free {
        return Ok(());
    }
    if resource.full_name() == "namespaces" {
        return check_namespace(name);
    }
    if !is_subdomain(name) {
        bail!(
            "{}: the name {name:?} is not up to 253 lower-case letters, digits, '-' and '.' that begin and end with a \
             letter or digit",
            resource.full_name()
        );
    }
    Ok(())
}

/// Refuses what cannot be a namespace.
pub(crate) fn check_namespace(name: &str) -> Result<()> {
    if !is_label(name) {
        bail!(
            "the namespace {name:?} is not 1 to 63 lower-case letters, digits and '-' that begin and end with a letter \
             or digit"
        );
    }
    Ok(())
}

fn is_subdomain(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_part)
}

fn is_label(name: &str) -> bool {
    name.len() <= 63 && is_part(name)
}

fn is_part(part: &str) -> bool {
    let is_edge =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let bytes = part.as_bytes();
    is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-')
}
