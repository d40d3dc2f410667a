//! The kinds of Kubernetes.

use std::borrow::Cow;

use anyhow::Result;

use super::{Resource, fields::fields_of};
use crate::output::{DEFAULT, columns_of};

const T: &[(&str, &str, &str, &str, bool, &str)] = &[
    ("", "Pod", "pods", "po", true, "/pods"),
    ("", "Secret", "secrets", "", true, "/secrets"),
    ("", "ConfigMap", "configmaps", "cm", true, "/configmaps"),
    ("", "Namespace", "namespaces", "ns", false, "/namespaces"),
    ("", "Node", "nodes", "no", false, "/minions"),
    ("", "Service", "services", "svc", true, "/services/specs"),
    ("apps", "Deployment", "deployments", "deploy", true, "/deployments"),
    (
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        "crd",
        false,
        "/apiextensions.k8s.io/customresourcedefinitions",
    ),
];

fn make(t: &(&str, &str, &str, &str, bool, &str)) -> Resource {
    Resource {
        group: t.0.to_owned(),
        kind: t.1.to_owned(),
        plural: t.2.to_owned(),
        singular: t.1.to_lowercase(),
        short_names: vec![t.3.to_owned()],
        namespaced: t.4,
        key_prefix: t.5.to_owned(),
        columns: Cow::Borrowed(columns_of(t.0, t.2).unwrap_or(DEFAULT)),
        fields: Cow::Borrowed(fields_of(t.0, t.2)),
        custom_fields: Vec::new(),
        versions: Vec::new(),
        is_custom: false,
    }
}

pub(super) fn by_name(name: &str) -> Option<Resource> {
    let (word, group) = name.split_once('.').unwrap_or((name, ""));
    T.iter().map(make).find(|r| r.is_called(word) && (group.is_empty() || r.group == group))
}

pub(super) fn by_kind(group: &str, _version: &str, kind: &str) -> Result<Option<Resource>> {
    Ok(T.iter().map(make).find(|r| r.kind == kind && r.group == group))
}
