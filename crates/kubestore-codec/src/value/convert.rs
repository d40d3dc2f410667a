//! To and from Rust's own types and those of `serde_json`.

use std::{error::Error, fmt};

use super::{Array, Map, Value};

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Value {
            fn from(value: $integer) -> Self {
                Self::Integer(value.into())
            }
        }
    )*};
}
from_integers!(i64, i32, i16, i8, u32, u16, u8);

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<Box<str>> for Value {
    fn from(text: Box<str>) -> Self {
        Self::String(text)
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}

impl From<Vec<Self>> for Value {
    fn from(values: Vec<Self>) -> Self {
        Self::Array(values.into())
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Object(map)
    }
}

/// An unsigned number above `i64::MAX` becomes a float, as it does when it is read from JSON.
impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(integer) => Self::Integer(integer),
                // Only a build of `serde_json` with arbitrary precision has numbers that are no `f64`.
                None => Self::Float(number.as_f64().unwrap_or(f64::INFINITY)),
            },
            serde_json::Value::String(text) => Self::from(text),
            serde_json::Value::Array(values) => Self::Array(values.into_iter().collect()),
            serde_json::Value::Object(members) => Self::Object(members.into()),
        }
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for Map {
    fn from(members: serde_json::Map<String, serde_json::Value>) -> Self {
        members.into_iter().collect()
    }
}

impl TryFrom<Value> for Map {
    type Error = NotAnObject;

    fn try_from(value: Value) -> Result<Self, NotAnObject> {
        match value {
            Value::Object(map) => Ok(map),
            other => Err(NotAnObject { found: other.type_name() }),
        }
    }
}

impl TryFrom<&Value> for serde_json::Value {
    type Error = NotJson;

    fn try_from(value: &Value) -> Result<Self, NotJson> {
        serde_json::to_value(value).map_err(NotJson)
    }
}

impl TryFrom<&Map> for serde_json::Value {
    type Error = NotJson;

    fn try_from(map: &Map) -> Result<Self, NotJson> {
        serde_json::to_value(map).map_err(NotJson)
    }
}

/// A value that is not a JSON object where one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnObject {
    pub(crate) found: &'static str,
}

impl fmt::Display for NotAnObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected an object, found {}", self.found)
    }
}

impl Error for NotAnObject {}

/// A value that `serde_json` has no form for: nested too deep, or with a float that is not a number.
#[derive(Debug)]
pub struct NotJson(serde_json::Error);

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a value of `serde_json`")
    }
}

impl Error for NotJson {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}
