//! Walking through values, and what follows from it: equality and copies.

use std::slice;

use super::{Array, Builder, Map, Value, map::Member};

/// One step through a value in document order.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    Array(&'a Array),
    Object(&'a Map),
    Key(&'a str),
    Scalar(&'a Value),
    End,
}

enum Level<'a> {
    Array(slice::Iter<'a, Value>),
    Object(slice::Iter<'a, Member>, Option<&'a Value>),
}

/// The steps through a value, without recursion.
pub(crate) struct Steps<'a> {
    levels: Vec<Level<'a>>,
    first: Option<&'a Value>,
}

impl<'a> Steps<'a> {
    pub(crate) fn of(value: &'a Value) -> Self {
        Self { levels: Vec::new(), first: Some(value) }
    }

    /// Through a map, the step into it taken.
    pub(crate) fn inside(map: &'a Map) -> Self {
        Self { levels: vec![Level::Object(map.members().iter(), None)], first: None }
    }

    /// Through an array, the step into it taken.
    fn inside_array(array: &'a Array) -> Self {
        Self { levels: vec![Level::Array(array.iter())], first: None }
    }

    fn enter(&mut self, value: &'a Value) -> Step<'a> {
        match value {
            Value::Array(array) => {
                self.levels.push(Level::Array(array.iter()));
                Step::Array(array)
            }
            Value::Object(map) => {
                self.levels.push(Level::Object(map.members().iter(), None));
                Step::Object(map)
            }
            scalar => Step::Scalar(scalar),
        }
    }
}

impl<'a> Iterator for Steps<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        if let Some(value) = self.first.take() {
            return Some(self.enter(value));
        }
        let next = match self.levels.last_mut()? {
            Level::Array(values) => values.next(),
            Level::Object(members, pending) => match pending.take() {
                Some(value) => Some(value),
                None => match members.next() {
                    Some((key, value)) => {
                        *pending = Some(value);
                        return Some(Step::Key(key));
                    }
                    None => None,
                },
            },
        };
        match next {
            Some(value) => Some(self.enter(value)),
            None => {
                self.levels.pop();
                Some(Step::End)
            }
        }
    }
}

/// Whether two walks show the same. Numbers of different kinds differ.
fn same(left: Steps<'_>, right: Steps<'_>) -> bool {
    left.zip(right).all(|pair| match pair {
        (Step::Array(a), Step::Array(b)) => a.len() == b.len(),
        (Step::Object(a), Step::Object(b)) => a.len() == b.len(),
        (Step::Key(a), Step::Key(b)) => a == b,
        (Step::Scalar(a), Step::Scalar(b)) => match (a, b) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Integer(a), Value::Integer(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::String(a), Value::String(b)) => a == b,
            _ => false,
        },
        (Step::End, Step::End) => true,
        _ => false,
    })
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        same(Steps::of(self), Steps::of(other))
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && same(Steps::inside(self), Steps::inside(other))
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        match self {
            Self::Null => Self::Null,
            Self::Bool(value) => Self::Bool(*value),
            Self::Integer(value) => Self::Integer(*value),
            Self::Float(value) => Self::Float(*value),
            Self::String(text) => Self::String(text.clone()),
            Self::Array(array) => Self::Array(array.clone()),
            Self::Object(map) => Self::Object(map.clone()),
        }
    }
}

impl Clone for Map {
    fn clone(&self) -> Self {
        let mut builder = Builder::default();
        builder.begin_object();
        match copy(Steps::inside(self), builder) {
            Value::Object(map) => map,
            _ => Self::new(),
        }
    }
}

impl Clone for Array {
    fn clone(&self) -> Self {
        let mut builder = Builder::default();
        builder.begin_array();
        match copy(Steps::inside_array(self), builder) {
            Value::Array(array) => array,
            _ => Self::new(),
        }
    }
}

/// What a walk shows, without recursion.
fn copy(steps: Steps<'_>, mut builder: Builder) -> Value {
    for step in steps {
        let done = match step {
            Step::Array(_) => {
                builder.begin_array();
                None
            }
            Step::Object(_) => {
                builder.begin_object();
                None
            }
            Step::Key(key) => {
                builder.key(key.into());
                None
            }
            Step::Scalar(scalar) => builder.value(scalar.clone()),
            Step::End => builder.end(),
        };
        if let Some(done) = done {
            return done;
        }
    }
    Value::Null
}
