//! What Kubernetes does not allow in a rule's list of resources.

use super::{ResourcePattern, walker::Walker};

/// Objects that etcd holds, but that no client can write again.
const NOT_SERVED: [&str; 3] = ["apiserveripinfo", "serviceipallocations", "servicenodeportallocations"];

/// Checks the names of one rule, each by itself and against the others.
pub(super) fn check_resources(walker: &mut Walker, names: &[(String, &str)], path: &str) {
    check_overlap(walker, names, path);
    for (path, name) in names {
        if let Some(message) = check_name(name) {
            walker.report(path, format!("{name:?} {message}"));
        }
    }
}

fn check_name(name: &str) -> Option<&'static str> {
    let pattern = ResourcePattern::parse(name);
    if name.is_empty() {
        return Some("is empty; name a resource, as secrets or deployments.apps");
    }
    if name.to_lowercase() != name {
        return Some("has capital letters; write the plural name in lower case");
    }
    if name == "*" {
        return Some("is ambiguous; write '*.' for the core group or '*.*' for everything");
    }
    if NOT_SERVED.contains(&name) {
        return Some("cannot be encrypted, since no API serves it; remove it");
    }
    match (&pattern.group[..], &pattern.resource[..]) {
        ("events.k8s.io", _) => Some("is stored in the core group; write events"),
        ("extensions", _) => Some("is of a group that Kubernetes no longer has; remove it"),
        ("*", resource) if resource != "*" => Some("is one resource across groups; name each group"),
        _ => None,
    }
}

fn check_overlap(walker: &mut Walker, names: &[(String, &str)], path: &str) {
    let patterns: Vec<_> = names.iter().map(|(_, name)| ResourcePattern::parse(name)).collect();
    let pairs = || {
        let later = |at: usize| patterns[at + 1..].iter();
        patterns.iter().enumerate().flat_map(move |(at, one)| later(at).map(move |other| (one, other)))
    };
    if let Some((twice, _)) = pairs().find(|(one, other)| one == other) {
        walker.report(path, format!("has {:?} twice; remove one", twice.to_string()));
    }
    let overlapping = pairs().find(|(one, other)| one != other && (one.masks(other) || other.masks(one)));
    if let Some((one, other)) = overlapping {
        let (wide, narrow) = if one.masks(other) { (one, other) } else { (other, one) };
        walker.report(
            path,
            format!(
                "has both {:?} and {:?}, which the first covers; remove {:?} or give it an earlier rule",
                wide.to_string(),
                narrow.to_string(),
                narrow.to_string()
            ),
        );
    }
}
