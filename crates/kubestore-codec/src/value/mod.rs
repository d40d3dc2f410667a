//! JSON values as Kubernetes keeps them.

mod array;
mod build;
mod compare;
mod convert;
mod drop;
mod map;
mod pointer;
mod serde_impl;

use std::fmt;

pub use array::Array;
pub(crate) use build::Builder;
pub(crate) use compare::{Step, Steps};
pub use convert::{NotAnObject, NotJson};
pub use map::Map;
pub use pointer::InvalidPointer;

/// How many arrays and objects may be open at once in a document that is read or written.
///
/// The limit of Kubernetes' JSON decoder. Nothing here recurses, so documents of this depth need no deep stack; but
/// [`serde`] does, and its side ends at 512.
pub const MAX_DEPTH: usize = 10_000;

/// A JSON value.
///
/// Integers and floats are kept apart as Kubernetes does: what is written without `.`, `e` or `E` and fits an `i64` is an
/// integer, everything else is a float. They are never equal to each other.
///
/// A value takes 24 bytes, a member of an object 40, both beside their text; arrays and objects have no spare capacity.
/// `Debug` shows what kind of value it is and how large, never content: it may be somebody's secret.
#[derive(Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction or exponent.
    Integer(i64),
    /// Any other number. JSON has neither infinities nor NaN; such a value is refused when it is written.
    Float(f64),
    /// Text.
    String(Box<str>),
    /// Values in order.
    Array(Array),
    /// Named values.
    Object(Map),
}

impl Value {
    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if it is one; a float is not, whatever its value.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if it is one; a large integer is rounded.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "documented")]
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The array, if it is one.
    #[must_use]
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The array, if it is one, to change.
    #[must_use]
    pub fn as_array_mut(&mut self) -> Option<&mut Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The object, if it is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The object, if it is one, to change.
    #[must_use]
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Self::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The member of that name, if this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object().and_then(|map| map.get(key))
    }

    /// What kind of value it is, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::String(_) => "text",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bool(_) => f.write_str("Bool(..)"),
            Self::Integer(_) => f.write_str("Integer(..)"),
            Self::Float(_) => f.write_str("Float(..)"),
            Self::String(text) => write!(f, "String({} bytes)", text.len()),
            Self::Array(array) => array.fmt(f),
            Self::Object(map) => map.fmt(f),
        }
    }
}
