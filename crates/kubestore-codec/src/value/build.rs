//! Values put together from a flat sequence of steps.

use super::{Array, Map, Value, map::Member};

/// Builds a value from its parts in document order, on heap stacks of its own: no recursion, and every container is
/// allocated once, at its final size.
#[derive(Default)]
pub(crate) struct Builder {
    open: Vec<Open>,
    values: Vec<Value>,
    members: Vec<Member>,
    keys: Vec<Box<str>>,
}

/// A container whose end is still to come, and where its part of the stack begins.
#[derive(Clone, Copy)]
enum Open {
    Array(usize),
    Object(usize),
}

impl Builder {
    /// How many containers are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether the innermost container is an object.
    pub(crate) fn in_object(&self) -> bool {
        matches!(self.open.last(), Some(Open::Object(_)))
    }

    pub(crate) fn begin_array(&mut self) {
        self.open.push(Open::Array(self.values.len()));
    }

    pub(crate) fn begin_object(&mut self) {
        self.open.push(Open::Object(self.members.len()));
    }

    /// The name of the value that follows.
    pub(crate) fn key(&mut self, key: Box<str>) {
        self.keys.push(key);
    }

    /// Ends the innermost container. `Some` when it was the outermost.
    pub(crate) fn end(&mut self) -> Option<Value> {
        let value = match self.open.pop()? {
            Open::Array(start) => Value::Array(Array::from(self.values.split_off(start))),
            Open::Object(start) => Value::Object(Map::from_members(self.members.split_off(start))),
        };
        self.value(value)
    }

    /// Adds a value to the innermost container; gives it back when there is none.
    pub(crate) fn value(&mut self, value: Value) -> Option<Value> {
        match self.open.last() {
            None => return Some(value),
            Some(Open::Array(_)) => self.values.push(value),
            // A key precedes every value of an object; without one the value has no name and is dropped.
            Some(Open::Object(_)) => self.members.extend(self.keys.pop().map(|key| (key, value))),
        }
        None
    }
}
