//! Freeing values without recursion, which a deep document would let run out of stack.

use std::mem;

use super::Value;

/// Empties the containers among `values`, so that dropping them is shallow.
pub(super) fn release<'a>(values: impl Iterator<Item = &'a mut Value>) {
    let mut pending = Vec::new();
    collect(values, &mut pending);
    while let Some(mut value) = pending.pop() {
        match &mut value {
            Value::Array(array) => collect(array.iter_mut(), &mut pending),
            Value::Object(map) => collect(map.members_mut().iter_mut().map(|(_, value)| value), &mut pending),
            _ => {}
        }
    }
}

fn collect<'a>(values: impl Iterator<Item = &'a mut Value>, pending: &mut Vec<Value>) {
    for value in values {
        let nested = match value {
            Value::Array(array) => array.iter().any(is_container),
            Value::Object(map) => map.members().iter().any(|(_, value)| is_container(value)),
            _ => false,
        };
        if nested {
            pending.push(mem::take(value));
        }
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}
