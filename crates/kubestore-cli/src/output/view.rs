//! An object as the columns of a table look at it.

use jiff::Timestamp;
use kubestore::codec::{Map, Value};

use super::age;

/// What a cell shows when there is nothing.
pub(crate) const NONE: &str = "<none>";

/// An object, and the time that ages are counted to.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) object: &'a Map,
    pub(crate) now: Timestamp,
}

impl<'a> View<'a> {
    /// What is at a JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&'a Value> {
        self.object.pointer(pointer).filter(|value| !value.is_null())
    }

    /// The text at a JSON pointer, "" when there is none.
    pub(crate) fn text(&self, pointer: &str) -> &'a str {
        self.at(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// What is at a JSON pointer as a cell shows it.
    pub(crate) fn cell(&self, pointer: &str) -> String {
        self.at(pointer).map_or_else(|| NONE.to_owned(), scalar)
    }

    /// The integer at a JSON pointer, 0 when there is none.
    pub(crate) fn integer(&self, pointer: &str) -> i64 {
        self.at(pointer).and_then(Value::as_i64).unwrap_or_default()
    }

    /// The objects of the array at a JSON pointer.
    pub(crate) fn objects(&self, pointer: &str) -> impl Iterator<Item = &'a Map> + use<'a> {
        self.array(pointer).iter().filter_map(Value::as_object)
    }

    /// The texts of the array at a JSON pointer.
    pub(crate) fn texts(&self, pointer: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.array(pointer).iter().filter_map(Value::as_str)
    }

    /// The array at a JSON pointer.
    pub(crate) fn array(&self, pointer: &str) -> &'a [Value] {
        self.at(pointer).and_then(Value::as_array).map_or(&[], |array| array)
    }

    /// How many members or values are at a JSON pointer.
    pub(crate) fn size(&self, pointer: &str) -> usize {
        match self.at(pointer) {
            Some(Value::Array(array)) => array.len(),
            Some(Value::Object(map)) => map.len(),
            _ => 0,
        }
    }

    /// How long ago the time at a JSON pointer was.
    pub(crate) fn age(&self, pointer: &str) -> String {
        age::since(self.text(pointer), self.now)
    }

    /// The time between the times at two JSON pointers; up to now when there is no second one.
    pub(crate) fn duration(&self, start: &str, end: &str) -> String {
        let end = match self.text(end) {
            "" => self.now.to_string(),
            end => end.to_owned(),
        };
        age::between(self.text(start), &end).unwrap_or_default()
    }

    /// The status of a condition, "" when the object does not have it.
    pub(crate) fn condition(&self, kind: &str) -> &'a str {
        let condition =
            self.objects("/status/conditions").find(|condition| member(condition, "type") == kind);
        condition.map_or("", |condition| member(condition, "status"))
    }

    /// `key=value` of each member of the object at a JSON pointer.
    pub(crate) fn pairs(&self, pointer: &str) -> String {
        let pairs = self.at(pointer).and_then(Value::as_object).into_iter().flat_map(Map::iter);
        joined(pairs.map(|(key, value)| format!("{key}={}", scalar(value))))
    }

    /// The same object as seen by a part of it.
    pub(crate) fn of(&self, object: &'a Map) -> Self {
        Self { object, now: self.now }
    }
}

/// The text of a member, "" when there is none.
pub(crate) fn member<'a>(object: &'a Map, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Texts with commas between, or that there are none.
pub(crate) fn joined<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let mut out = String::new();
    for (position, text) in texts.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str(text.as_ref());
    }
    or_none(out)
}

/// The text, or that there is none.
pub(crate) fn or_none(text: impl Into<String>) -> String {
    let text = text.into();
    if text.is_empty() { NONE.to_owned() } else { text }
}

/// A value in one cell.
pub(crate) fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Null => NONE.to_owned(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
