//! From CBOR to values.

use std::borrow::Cow;

use super::{
    error::CborError,
    reader::{Item, Reader, Visit},
};
use crate::value::{Builder, Value};

/// The value that `data` is, all of it, without recursion.
pub(super) fn build(data: &[u8]) -> Result<Value, CborError> {
    let mut reader = Reader::new(data);
    let mut building = Building { builder: Builder::default(), whole: None };
    let first = reader.item(None)?;
    reader.walk(first, &mut building)?;
    reader.end()?;
    Ok(building.whole.unwrap_or_default())
}

struct Building {
    builder: Builder,
    /// The outermost value, once it is complete.
    whole: Option<Value>,
}

impl<'de> Visit<'de> for Building {
    fn begin(&mut self, is_map: bool) {
        if is_map { self.builder.begin_object() } else { self.builder.begin_array() }
    }

    fn key(&mut self, key: Cow<'de, str>) {
        self.builder.key(key.into());
    }

    fn scalar(&mut self, item: Item<'de>) {
        self.whole = self.builder.value(match item {
            Item::Bool(value) => Value::Bool(value),
            Item::Integer(number) => Value::Integer(number),
            Item::Float(number) => Value::Float(number),
            Item::Text(text) => Value::String(text.into()),
            Item::Bytes(bytes, later) => Value::String(later.text(&bytes).into()),
            // Containers are shown by their begin and end.
            Item::Null | Item::Array(_) | Item::Map(_) => Value::Null,
        });
    }

    fn end(&mut self) {
        self.whole = self.builder.end();
    }
}
