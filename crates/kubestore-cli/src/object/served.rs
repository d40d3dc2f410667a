//! Objects as an API server shows them where it stores them in another form.

use std::borrow::Cow;

use kubestore::codec::{Array, Map, Value};

use crate::resources::Resource;

/// What an API server answers for a stored object.
///
/// It stores some kinds in an older version than the one it answers with, events of both groups as those of the core group,
/// leaves out of protobuf what the type of an embedded object is, and fills in the phase of what nobody has looked at yet.
/// Everything else is shown as it is stored.
pub(crate) fn as_served<'a>(resource: &Resource, object: &'a Map) -> Cow<'a, Map> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    match (text("apiVersion"), text("kind")) {
        ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition") => Cow::Owned(definition(object)),
        ("apps/v1", "StatefulSet") => stateful_set(object),
        ("v1", "Event") if resource.group_resource().group == "events.k8s.io" => Cow::Owned(event(object)),
        ("v1", "PersistentVolumeClaim" | "PersistentVolume") => with_phase(object, "Pending"),
        ("v1", "Namespace") => with_phase(object, "Active"),
        _ => Cow::Borrowed(object),
    }
}

fn with_phase<'a>(object: &'a Map, phase: &str) -> Cow<'a, Map> {
    let status = object.get("status").and_then(Value::as_object);
    if status.is_some_and(|status| status.contains_key("phase")) {
        return Cow::Borrowed(object);
    }
    let mut status = status.cloned().unwrap_or_default();
    status.insert("phase", phase);
    let mut shown = object.clone();
    shown.insert("status", Value::Object(status));
    Cow::Owned(shown)
}

/// A definition of version v1. What all versions had in common is in one place in v1beta1, and in each version here.
pub(crate) fn definition(stored: &Map) -> Map {
    let mut object = stored.clone();
    object.insert("apiVersion", "apiextensions.k8s.io/v1");
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        let shared = [
            ("subresources", spec.remove("subresources")),
            ("schema", spec.remove("validation")),
            ("additionalPrinterColumns", spec.remove("additionalPrinterColumns")),
            ("selectableFields", spec.remove("selectableFields")),
        ];
        let version = spec.remove("version");
        if spec.get("versions").and_then(Value::as_array).is_none_or(|versions| versions.is_empty())
            && let Some(version) = version
        {
            let only = [("name", version), ("served", Value::Bool(true)), ("storage", Value::Bool(true))];
            spec.insert(
                "versions",
                [Value::Object(only.into_iter().collect())].into_iter().collect::<Array>(),
            );
        }
        if let Some(Value::Array(versions)) = spec.get_mut("versions") {
            versions.iter_mut().filter_map(Value::as_object_mut).for_each(|version| share(version, &shared));
        }
        if spec.get("preserveUnknownFields") == Some(&Value::Bool(false)) {
            spec.remove("preserveUnknownFields");
        }
        if let Some(Value::Object(conversion)) = spec.get_mut("conversion") {
            webhook(conversion);
        }
    }
    object
}

fn share(version: &mut Map, shared: &[(&str, Option<Value>)]) {
    for (name, value) in shared {
        if let (Some(value), None) = (value, version.get(name)) {
            version.insert(*name, value.clone());
        }
    }
    let columns = version.get_mut("additionalPrinterColumns").and_then(Value::as_array_mut);
    for column in columns.into_iter().flat_map(|columns| columns.iter_mut()).filter_map(Value::as_object_mut)
    {
        rename(column, "JSONPath", "jsonPath");
    }
}

fn webhook(conversion: &mut Map) {
    let (client, versions) =
        (conversion.remove("webhookClientConfig"), conversion.remove("conversionReviewVersions"));
    let members = [("clientConfig", client), ("conversionReviewVersions", versions)];
    let webhook: Map = members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    if !webhook.is_empty() {
        conversion.insert("webhook", Value::Object(webhook));
    }
}

fn stateful_set(stored: &Map) -> Cow<'_, Map> {
    let templates = stored.pointer("/spec/volumeClaimTemplates").and_then(Value::as_array);
    let lacks_type =
        |template: &Value| template.as_object().is_some_and(|template| template.get("kind").is_none());
    if !templates.is_some_and(|templates| templates.iter().any(lacks_type)) {
        return Cow::Borrowed(stored);
    }
    let mut object = stored.clone();
    let templates = object.get_mut("spec").and_then(Value::as_object_mut);
    let templates =
        templates.and_then(|spec| spec.get_mut("volumeClaimTemplates")).and_then(Value::as_array_mut);
    for template in
        templates.into_iter().flat_map(|templates| templates.iter_mut()).filter_map(Value::as_object_mut)
    {
        if template.get("kind").is_none() && template.get("apiVersion").is_none() {
            template.insert("apiVersion", "v1");
            template.insert("kind", "PersistentVolumeClaim");
        }
    }
    Cow::Owned(object)
}

fn event(stored: &Map) -> Map {
    let mut object = stored.clone();
    object.insert("apiVersion", "events.k8s.io/v1");
    for (old, new) in [
        ("involvedObject", "regarding"),
        ("message", "note"),
        ("reportingComponent", "reportingController"),
        ("count", "deprecatedCount"),
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("source", "deprecatedSource"),
    ] {
        rename(&mut object, old, new);
    }
    // The core group prints these when they are empty, the other one does not.
    for name in ["reportingController", "reportingInstance"] {
        if object.get(name).and_then(Value::as_str) == Some("") {
            object.remove(name);
        }
    }
    object
}

fn rename(object: &mut Map, old: &str, new: &str) {
    if let Some(value) = object.remove(old) {
        object.insert(new, value);
    }
}
