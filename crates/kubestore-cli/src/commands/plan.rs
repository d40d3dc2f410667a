//! From documents to keys.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use kubestore::codec::{Unstructured, Value};

use crate::{
    input::{Document, Origin},
    resources::{Resource, check_namespace, check_new_name},
    session::Session,
};

/// An object, and where it belongs.
pub(super) struct Planned {
    pub(super) origin: Origin,
    pub(super) resource: Arc<Resource>,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) key: String,
    pub(super) object: Unstructured,
}

/// Finds out where each object belongs. Custom resources may be defined by other documents of the same input.
///
/// # Errors
/// Something is missing in an object, or its kind is unknown; the error names the file and the line.
pub(super) async fn plan(documents: Vec<Document>, session: &mut Session) -> Result<Vec<Planned>> {
    for Document { origin, object } in &documents {
        if object.kind() == "CustomResourceDefinition" {
            session.catalog.learn(object).with_context(|| origin.to_string())?;
        }
    }
    let mut planned = Vec::with_capacity(documents.len());
    for Document { origin, object } in documents {
        let place = origin.to_string();
        planned.push(plan_one(origin, object, session).await.context(place)?);
    }
    Ok(planned)
}

async fn plan_one(origin: Origin, mut object: Unstructured, session: &mut Session) -> Result<Planned> {
    check_texts(&object)?;
    for (member, text) in [("apiVersion", object.api_version()), ("kind", object.kind())] {
        if text.is_empty() {
            bail!("the object has no {member}; write it");
        }
    }
    let resource = session.catalog.by_kind(object.api_version(), object.kind()).await?;
    let name = object.name().to_owned();
    if name.is_empty() {
        bail!(
            "the {} has no metadata.name; write it (generateName is an API server's affair)",
            object.kind()
        );
    }
    check_new_name(&resource, &name)?;
    let namespace = if resource.is_namespaced() { namespace(&object, session)? } else { String::new() };
    object.set_namespace(&namespace);
    let key = resource.key(&namespace, &name)?;
    Ok(Planned { origin, resource, namespace, name, key, object })
}

/// Refuses what stores and selectors would take for missing: YAML reads `12` and `yes` not as text.
fn check_texts(object: &Unstructured) -> Result<()> {
    for path in ["apiVersion", "kind", "metadata.name", "metadata.namespace"] {
        let value = object.pointer(&format!("/{}", path.replace('.', "/")));
        ensure!(
            matches!(value, None | Some(Value::Null | Value::String(_))),
            "{path} is not text; put it in quotes"
        );
    }
    for path in ["metadata", "metadata.labels", "metadata.annotations"] {
        let texts = match object.pointer(&format!("/{}", path.replace('.', "/"))) {
            None | Some(Value::Null) => continue,
            Some(Value::Object(map)) => map,
            Some(_) => bail!("{path} is not an object"),
        };
        let odd = texts.iter().find(|(_, value)| path != "metadata" && value.as_str().is_none());
        if let Some((key, _)) = odd {
            bail!("{path}.{key} is not text; put it in quotes");
        }
    }
    Ok(())
}

/// The object's own namespace, or the one on the command line, which must not differ.
fn namespace(object: &Unstructured, session: &Session) -> Result<String> {
    let own = object.namespace();
    match session.named_namespace() {
        Some(named) if !own.is_empty() && own != named => {
            bail!("the object is in namespace {own:?} and the command line says {named:?}; leave one out")
        }
        _ if own.is_empty() => Ok(session.namespace().to_owned()),
        _ => {
            check_namespace(own)?;
            Ok(own.to_owned())
        }
    }
}
