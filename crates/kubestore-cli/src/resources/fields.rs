//! Which fields the objects of a resource can be selected by.

use anyhow::Result;
use kubestore::core::FieldSelector;

use super::Resource;
use crate::failure::Usage;

/// Reads a field selector, and refuses fields that an API server does not know either: a store would take them as empty
/// and find nothing.
pub(crate) fn check_fields(text: &str, resource: &Resource) -> Result<FieldSelector> {
    let selector: FieldSelector =
        text.parse().map_err(|error| Usage::new(format!("--field-selector: {error}")))?;
    let known = known(resource);
    for term in selector.terms() {
        if !known.contains(&term.field()) {
            let field = term.field();
            let message = format!(
                "--field-selector: {} have no field {field:?} to select by; there are: {}",
                resource.full_name(),
                known.join(", ")
            );
            return Err(Usage::new(message).into());
        }
    }
    Ok(selector)
}

fn known(resource: &Resource) -> Vec<&str> {
    let mut known = vec!["metadata.name"];
    if resource.is_namespaced() {
        known.push("metadata.namespace");
    }
    known.extend(resource.fields.iter().copied());
    known.extend(resource.custom_fields.iter().map(String::as_str));
    known
}

/// The fields of a kind of Kubernetes, besides name and namespace.
pub(super) fn fields_of(group: &str, plural: &str) -> &'static [&'static str] {
    match (group, plural) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        ("", "events") | ("events.k8s.io", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("", "namespaces") => &["status.phase"],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("", "replicationcontrollers") | ("apps", "replicasets") => &["status.replicas"],
        ("batch", "jobs") => &["status.successful"],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        ("resource.k8s.io", "resourceslices") => &["spec.nodeName", "spec.driver"],
        _ => &[],
    }
}
