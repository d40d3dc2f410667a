//! Arguments of steps: objects, continue tokens, selectors, preconditions.

use anyhow::{Context, Result, anyhow, bail};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kubestore_codec::Unstructured;
use kubestore_core::{Preconditions, Predicate, StorageError};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::session::Session;
use crate::recording::{self, PreconditionsArg, Token};

/// An object that an earlier step returned, edited.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ObjectReference {
    from_step: usize,
    #[serde(default)]
    item: Option<usize>,
    #[serde(default)]
    set: Map<String, Value>,
    #[serde(default)]
    unset: Vec<String>,
}

impl Session {
    /// An object argument, with absolute resource version.
    pub(super) fn object(&self, argument: &Value) -> Result<Unstructured> {
        let base = self.notation.base;
        if argument.get("fromStep").is_none() {
            let object = recording::absolute(argument.clone(), base);
            return Unstructured::try_from(object).map_err(|error| anyhow!("{argument}: {error}"));
        }
        let reference: ObjectReference = serde_json::from_value(argument.clone())?;
        let step = reference.from_step;
        let result = self.results.get(step).with_context(|| format!("there is no earlier step {step}"))?;
        let object = match reference.item {
            Some(item) => {
                result.items.get(item).with_context(|| format!("step {step} gave no item {item}"))?
            }
            None => result.object.as_ref().with_context(|| format!("step {step} gave no object"))?,
        };
        let mut value = untyped(object)?;
        recording::edit(&mut value, &reference.set, &Map::new(), &reference.unset, base);
        with_content(object.clone(), value)
    }

    pub(super) fn cached(&self, argument: Option<&Value>) -> Result<Option<Unstructured>> {
        argument.map(|argument| self.object(argument)).transpose()
    }

    pub(super) fn preconditions(&self, argument: Option<&PreconditionsArg>) -> Option<Preconditions> {
        let argument = argument?;
        let mut preconditions = Preconditions::default();
        preconditions.uid.clone_from(&argument.uid);
        preconditions.resource_version =
            argument.resource_version.as_deref().map(|text| self.notation.base.absolute_text(text));
        Some(preconditions)
    }

    /// A continue argument as the token that is sent.
    pub(super) fn token(&self, argument: Option<&Value>) -> Result<String> {
        let fields = match argument {
            None => return Ok(String::new()),
            Some(Value::String(token)) => return Ok(token.clone()),
            Some(Value::Object(fields)) => fields,
            Some(other) => bail!("bad continue {other}"),
        };
        if let Some(step) = fields.get("fromStep") {
            let step = step.as_u64().and_then(|step| usize::try_from(step).ok()).context("bad fromStep")?;
            let result = self.results.get(step);
            return Ok(result.with_context(|| format!("there is no earlier step {step}"))?.token.clone());
        }
        if let Some(json) = fields.get("json").and_then(Value::as_str) {
            return Ok(URL_SAFE_NO_PAD.encode(json));
        }
        Ok(Token::from_argument(fields, self.notation.base)?.encode())
    }
}

/// The same object with other content: an object remembers how it was read.
pub(super) fn with_content(mut object: Unstructured, content: Value) -> Result<Unstructured> {
    let Value::Object(content) = content else { bail!("{content} is not an object") };
    *object = content.into();
    Ok(object)
}

/// An object as JSON.
pub(super) fn untyped(object: &Unstructured) -> Result<Value> {
    Ok(serde_json::to_value(object)?)
}

/// Selectors in the usual syntax.
pub(super) fn predicate(labels: &str, fields: &str) -> Result<Predicate> {
    let labels = labels.parse().with_context(|| format!("label selector {labels:?}"))?;
    let fields = fields.parse().with_context(|| format!("field selector {fields:?}"))?;
    Ok(Predicate::new(labels, fields))
}

/// A plain error of a function.
pub(super) fn refusal(text: &str) -> StorageError {
    StorageError::callback(text)
}
