//! The documents of a text.

use std::sync::Arc;

use anyhow::{Result, bail};
use kubestore::codec::{Map, Value};

use super::{Document, Origin, expand, json, yaml};

/// A place in a text that cannot be read.
pub(super) struct Malformed {
    /// From 1, in the part that was given.
    pub(super) line: usize,
    pub(super) message: String,
}

/// Reads the objects of `text`, which is YAML or JSON, and adds them.
pub(super) fn parse(file: &Arc<str>, text: &str, documents: &mut Vec<Document>) -> Result<()> {
    let mut add = |line: usize, value: Value| -> Result<()> {
        let origin = Origin { file: Arc::clone(file), line, item: None };
        match value {
            Value::Null => Ok(()),
            Value::Object(object) => expand::add(origin, object, documents),
            _ => bail!("{origin}: is not an object; write apiVersion, kind and metadata"),
        }
    };
    if text.trim_start().starts_with('{') {
        match json::documents(text) {
            Ok(values) => return values.into_iter().try_for_each(|(line, value)| add(line, value)),
            // YAML has a form in braces as well; only what is neither is malformed.
            Err(Malformed { line, message }) => {
                let is_yaml = yaml::parts(text).all(|part| yaml::value(part.text).is_ok());
                if !is_yaml || file.ends_with(".json") {
                    bail!("{file}:{line}: malformed JSON: {message}");
                }
            }
        }
    }
    for part in yaml::parts(text) {
        match yaml::value(part.text) {
            Ok(value) => add(part.first_line(), value)?,
            Err(Malformed { line, message }) => {
                bail!("{file}:{}: malformed YAML: {message}", part.line + line - 1)
            }
        }
    }
    Ok(())
}

/// The text at a member, "" when it has none.
pub(super) fn text_of<'a>(object: &'a Map, member: &str) -> &'a str {
    object.get(member).and_then(Value::as_str).unwrap_or_default()
}
