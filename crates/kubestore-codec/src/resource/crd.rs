//! Custom resources from their definitions.

use std::{error::Error, fmt};

use super::types::{InvalidResource, Resource, ResourceScope};
use crate::{Unstructured, value::Value};

/// A definition that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidCrd {
    name: String,
    why: &'static str,
    source: Option<InvalidResource>,
}

impl fmt::Display for InvalidCrd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "custom resource definition {}: {}", kubestore_core::quote(&self.name), self.why)
    }
}

impl Error for InvalidCrd {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|cause| cause as _)
    }
}

impl Resource {
    /// The resource that a `CustomResourceDefinition` defines. Takes v1 and v1beta1, the form in which API servers keep
    /// definitions.
    ///
    /// # Errors
    /// It is not a definition, a part of it is missing, or what it describes cannot be a resource.
    pub fn from_crd(definition: &Unstructured) -> Result<Self, InvalidCrd> {
        let refuse = |why| InvalidCrd { name: definition.name().to_owned(), why, source: None };
        let is_definition = definition.kind() == "CustomResourceDefinition"
            && definition.api_version().starts_with("apiextensions.k8s.io/");
        if !is_definition {
            return Err(refuse("it is an object of another kind"));
        }
        let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str);
        let scope = match text("/spec/scope") {
            // The default of v1beta1; v1 always says it.
            Some("Namespaced") | None => ResourceScope::Namespaced,
            Some("Cluster") => ResourceScope::Cluster,
            Some(_) => return Err(refuse("`spec.scope` is neither Namespaced nor Cluster")),
        };
        let required = |pointer, why| text(pointer).ok_or(refuse(why));
        let group = required("/spec/group", "`spec.group` is missing")?;
        let kind = required("/spec/names/kind", "`spec.names.kind` is missing")?;
        let plural = required("/spec/names/plural", "`spec.names.plural` is missing")?;
        let (served, stored) = versions(definition);
        let stored = stored.ok_or(refuse("no version is stored"))?;
        let mut resource = Self::custom(group, stored, kind, plural, scope).map_err(|cause| InvalidCrd {
            source: Some(cause),
            ..refuse("it describes something that cannot be a resource")
        })?;
        resource.versions = served;
        if let Some(singular) = text("/spec/names/singular").filter(|singular| !singular.is_empty()) {
            singular.clone_into(&mut resource.singular);
        }
        resource.short_names = texts(definition.pointer("/spec/names/shortNames"));
        resource.categories = texts(definition.pointer("/spec/names/categories"));
        resource.fields = selectable_fields(definition);
        Ok(resource)
    }
}

/// The versions served, in the order of the definition, and the stored one.
fn versions(definition: &Unstructured) -> (Vec<String>, Option<&str>) {
    let flag = |version: &Value, name| version.get(name).and_then(Value::as_bool).unwrap_or(false);
    let name = |version: &'_ Value| version.get("name").and_then(Value::as_str).map(str::to_owned);
    let all = definition.pointer("/spec/versions").and_then(Value::as_array);
    let all: &[Value] = all.map_or(&[], |versions| versions);
    // The first form of v1beta1 had one version and no list.
    let single = definition.pointer("/spec/version").and_then(Value::as_str);
    let mut served: Vec<_> = all.iter().filter(|version| flag(version, "served")).filter_map(name).collect();
    if all.is_empty() {
        served.extend(single.map(str::to_owned));
    }
    let stored = all.iter().find(|version| flag(version, "storage")).and_then(|version| version.get("name"));
    (served, stored.and_then(Value::as_str).or(single.filter(|_| all.is_empty())))
}

/// `.spec.color` in JSON path is `spec.color` in selectors.
fn selectable_fields(definition: &Unstructured) -> Vec<String> {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let mut fields = Vec::new();
    for version in versions.into_iter().flatten() {
        let selectable = version.get("selectableFields").and_then(Value::as_array);
        for field in selectable.into_iter().flatten() {
            let path = field.get("jsonPath").and_then(Value::as_str).and_then(|path| path.strip_prefix('.'));
            let path = path.map(str::to_owned);
            fields.extend(path.filter(|path| !fields.contains(path)));
        }
    }
    fields
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let array = value.and_then(Value::as_array);
    array.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
