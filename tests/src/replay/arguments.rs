//! Arguments of steps: objects, continue tokens, selectors, preconditions.

use anyhow::{Context, Result, anyhow, bail};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use kubestore_codec::Unstructured;
use kubestore_core::{
    FieldSelector, FieldTerm, GetOptions, ListOptions, NotFound, Preconditions, Predicate,
    ResourceVersionMatch, Scope, WatchOptions,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::recording::{self, Base, GetStep, ListStep, PreconditionsArg, Token, WatchStep};

/// What later steps may refer to.
#[derive(Debug, Default)]
pub(crate) struct StepResult {
    pub(crate) object: Option<Unstructured>,
    pub(crate) items: Vec<Unstructured>,
    pub(crate) token: String,
}

/// The results of the top-level steps so far, and what arguments make of them.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) base: Base,
    pub(crate) steps: Vec<StepResult>,
}

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

impl Results {
    /// No results yet.
    pub(crate) fn new(base: Base) -> Self {
        Self { base, steps: Vec::new() }
    }

    /// An object argument, with absolute resource version.
    pub(crate) fn object(&self, argument: &Value) -> Result<Unstructured> {
        if argument.get("fromStep").is_none() {
            let object = recording::absolute(argument.clone(), self.base);
            return Unstructured::try_from(object).map_err(|error| anyhow!("{argument}: {error}"));
        }
        let reference: ObjectReference = serde_json::from_value(argument.clone())?;
        let step = reference.from_step;
        let result = self.step(step)?;
        let object = match reference.item {
            Some(item) => {
                result.items.get(item).with_context(|| format!("step {step} gave no item {item}"))?
            }
            None => result.object.as_ref().with_context(|| format!("step {step} gave no object"))?,
        };
        let mut value = untyped(object)?;
        recording::edit(&mut value, &reference.set, &Map::new(), &reference.unset, self.base);
        with_content(object.clone(), value)
    }

    pub(crate) fn cached(&self, argument: Option<&Value>) -> Result<Option<Unstructured>> {
        argument.map(|argument| self.object(argument)).transpose()
    }

    /// A continue argument as the token that is sent.
    pub(crate) fn token(&self, argument: Option<&Value>) -> Result<String> {
        let fields = match argument {
            None => return Ok(String::new()),
            Some(Value::String(token)) => return Ok(token.clone()),
            Some(Value::Object(fields)) => fields,
            Some(other) => bail!("bad continue {other}"),
        };
        if let Some(step) = fields.get("fromStep") {
            let step = step.as_u64().and_then(|step| usize::try_from(step).ok()).context("bad fromStep")?;
            return Ok(self.step(step)?.token.clone());
        }
        if let Some(json) = fields.get("json").and_then(Value::as_str) {
            return Ok(URL_SAFE_NO_PAD.encode(json));
        }
        Ok(Token::from_argument(fields, self.base)?.encode())
    }

    pub(crate) fn preconditions(&self, argument: Option<&PreconditionsArg>) -> Option<Preconditions> {
        let argument = argument?;
        let mut preconditions = Preconditions::default();
        preconditions.uid.clone_from(&argument.uid);
        preconditions.resource_version =
            argument.resource_version.as_deref().map(|text| self.base.absolute_text(text));
        Some(preconditions)
    }

    pub(crate) fn get_options(&self, step: &GetStep) -> GetOptions {
        let mut options = GetOptions::default();
        options.resource_version = self.base.absolute_text(&step.resource_version);
        options.not_found = not_found(step.ignore_not_found);
        options
    }

    pub(crate) fn list_options(&self, step: &ListStep) -> Result<ListOptions> {
        let mut options = ListOptions::default();
        options.scope = scope(step.recursive);
        options.resource_version = self.base.absolute_text(&step.resource_version);
        options.resource_version_match = ResourceVersionMatch::from(step.resource_version_match.as_str());
        options.predicate = predicate(&step.label_selector, &step.field_selector)?;
        options.limit = step.limit;
        options.continue_token = self.token(step.continues.as_ref())?;
        Ok(options)
    }

    pub(crate) fn watch_options(&self, step: &WatchStep) -> Result<WatchOptions> {
        let mut options = WatchOptions::default();
        options.scope = scope(step.recursive);
        options.resource_version = self.base.absolute_text(&step.resource_version);
        options.predicate = predicate(&step.label_selector, &step.field_selector)?;
        options.progress_notify = step.progress_notify;
        options.send_initial_events = step.send_initial_events;
        options.allow_bookmarks = step.allow_watch_bookmarks;
        Ok(options)
    }

    fn step(&self, number: usize) -> Result<&StepResult> {
        self.steps.get(number).with_context(|| format!("there is no earlier step {number}"))
    }
}

/// The same object with other content: an object remembers how it was read.
pub(crate) fn with_content(mut object: Unstructured, content: Value) -> Result<Unstructured> {
    let Value::Object(content) = content else { bail!("{content} is not an object") };
    *object = content.into();
    Ok(object)
}

/// An object as JSON.
pub(crate) fn untyped(object: &Unstructured) -> Result<Value> {
    Ok(serde_json::to_value(object)?)
}

/// Whether a missing object is an error.
pub(crate) fn not_found(ignore: bool) -> NotFound {
    if ignore { NotFound::Ignore } else { NotFound::Fail }
}

fn scope(recursive: bool) -> Scope {
    if recursive { Scope::Recursive } else { Scope::Single }
}

/// Selectors in the usual syntax.
fn predicate(labels: &str, fields: &str) -> Result<Predicate> {
    let labels = labels.parse().with_context(|| format!("label selector {labels:?}"))?;
    let written: FieldSelector = fields.parse().with_context(|| format!("field selector {fields:?}"))?;
    Ok(Predicate::new(labels, only_recorded(&written).parse()?))
}

/// The fields that the recorder's store knows; all others are empty to it, whatever the object has.
const RECORDED_FIELDS: [&str; 3] = ["metadata.name", "metadata.namespace", "spec.nodeName"];

/// The selector with the fields that were not known replaced by one that no object has.
fn only_recorded(selector: &FieldSelector) -> String {
    let term = |term: &FieldTerm| {
        let field =
            Some(term.field()).filter(|field| RECORDED_FIELDS.contains(field)).unwrap_or("no.such.field");
        let value = term.value().replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=");
        format!("{field}{}{value}", if term.is_equal() { "=" } else { "!=" })
    };
    selector.terms().iter().map(term).collect::<Vec<_>>().join(",")
}
