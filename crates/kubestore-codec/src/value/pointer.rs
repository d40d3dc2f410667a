//! JSON pointers (RFC 6901).

use std::{borrow::Cow, error::Error, fmt};

use super::{Map, Value};

/// A JSON pointer that leads nowhere in this object.
///
/// It names the place, not what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPointer {
    pointer: Box<str>,
    why: &'static str,
}

impl fmt::Display for InvalidPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot set `{}`: {}", self.pointer, self.why)
    }
}

impl Error for InvalidPointer {}

impl Map {
    /// What is at a JSON pointer such as `/metadata/labels/app` or `/spec/containers/0/image`; `~1` stands for `/` in a
    /// name and `~0` for `~`. The empty pointer is the object itself, which is not a [`Value`], so it finds nothing.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        let mut parts = parts(pointer)?;
        let mut value = self.get(&parts.next()?)?;
        for part in parts {
            value = match value {
                Value::Object(map) => map.get(&part)?,
                Value::Array(array) => array.get(index(&part)?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// What is at a JSON pointer, to change.
    #[must_use]
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        let mut parts = parts(pointer)?;
        let mut value = self.get_mut(&parts.next()?)?;
        for part in parts {
            value = match value {
                Value::Object(map) => map.get_mut(&part)?,
                Value::Array(array) => array.get_mut(index(&part)?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// Sets what is at a JSON pointer and returns what was there. Objects missing on the way are made, and take the place
    /// of `null`; `-` is the place after the last value of an array.
    ///
    /// # Errors
    /// Something on the way is neither object nor array, or the array is too short.
    pub fn set_pointer(
        &mut self,
        pointer: &str,
        value: impl Into<Value>,
    ) -> Result<Option<Value>, InvalidPointer> {
        let refuse = |why| InvalidPointer { pointer: pointer.into(), why };
        let mut rest = parts(pointer).ok_or(refuse("it does not start with `/`"))?.peekable();
        let Some(first) = rest.next() else { return Err(refuse("it is empty")) };
        if rest.peek().is_none() {
            return Ok(self.insert(&*first, value));
        }
        let mut at = self.get_or_insert(&first);
        while let Some(part) = rest.next() {
            let last = rest.peek().is_none();
            if at.is_null() {
                *at = Value::Object(Self::new());
            }
            at = match at {
                Value::Object(map) if last => return Ok(map.insert(&*part, value)),
                Value::Object(map) => map.get_or_insert(&part),
                Value::Array(array) if last && part == "-" => {
                    array.push(value);
                    return Ok(None);
                }
                Value::Array(array) => {
                    let slot = index(&part).and_then(|index| array.get_mut(index));
                    slot.ok_or(refuse("there is no such place in the array"))?
                }
                _ => return Err(refuse("something on the way is neither object nor array")),
            };
        }
        Ok(Some(std::mem::replace(at, value.into())))
    }

    /// Takes out what is at a JSON pointer.
    pub fn remove_pointer(&mut self, pointer: &str) -> Option<Value> {
        let (parent, last) = pointer.rsplit_once('/')?;
        let last = unescape(last);
        if parent.is_empty() {
            return self.remove(&last);
        }
        match self.pointer_mut(parent)? {
            Value::Object(map) => map.remove(&last),
            Value::Array(array) => {
                let index = index(&last).filter(|index| *index < array.len())?;
                let mut values = std::mem::take(array).into_vec();
                let removed = values.remove(index);
                *array = values.into();
                Some(removed)
            }
            _ => None,
        }
    }
}

/// The names in a pointer; `None` when it does not start with a slash, nothing for the empty pointer.
fn parts(pointer: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let rest = if pointer.is_empty() { None } else { Some(pointer.strip_prefix('/')?) };
    Some(rest.into_iter().flat_map(|rest| rest.split('/')).map(unescape))
}

fn unescape(part: &str) -> Cow<'_, str> {
    if part.contains('~') { part.replace("~1", "/").replace("~0", "~").into() } else { part.into() }
}

/// Digits without a leading zero.
fn index(part: &str) -> Option<usize> {
    let plain = part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
    part.parse().ok().filter(|_| plain)
}
