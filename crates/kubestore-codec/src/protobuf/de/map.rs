//! Maps from text.

use std::{borrow::Cow, vec};

use serde::de::{DeserializeSeed, IntoDeserializer as _, MapAccess};

use super::{Context, frame::Frame, value::Value, visit_text};
use crate::{
    json::go_text,
    protobuf::{
        entry::Entry,
        error::{ProtobufError, Segment},
        schema::{Field, Type},
        wire::Payload,
    },
};

/// The entries of a map, each key once.
pub(super) struct Map<'f, 'de> {
    context: Context,
    of: Type,
    source: Source<'f, 'de>,
    /// The value whose key was given.
    value: Option<Entry<'de>>,
}

enum Source<'f, 'de> {
    InOrder { number: u32, first: Option<Payload<'de>>, frame: &'f mut Frame<'de> },
    Gathered(vec::IntoIter<Entry<'de>>),
}

impl<'f, 'de> Map<'f, 'de> {
    pub(super) fn new(
        context: Context,
        field: &Field,
        first: Payload<'de>,
        frame: &'f mut Frame<'de>,
    ) -> Result<Self, ProtobufError> {
        let Field { number, of, .. } = *field;
        let source = if is_in_order(&first, number, frame, of)? {
            Source::InOrder { number, first: Some(first), frame }
        } else {
            Source::Gathered(gather(first, number, frame, of)?.into_iter())
        };
        Ok(Self { context, of, source, value: None })
    }

    fn next_entry(&mut self) -> Result<Option<Entry<'de>>, ProtobufError> {
        match &mut self.source {
            Source::InOrder { number, first, frame } => {
                let payload = match first.take() {
                    Some(first) => Some(first),
                    None => frame.next_if(*number)?,
                };
                payload.map(|payload| Entry::read(&payload, self.of)).transpose()
            }
            Source::Gathered(entries) => Ok(entries.next()),
        }
    }
}

/// Whether the keys are in order, as Kubernetes writes them.
fn is_in_order(first: &Payload<'_>, number: u32, frame: &Frame<'_>, of: Type) -> Result<bool, ProtobufError> {
    let mut last = Entry::read(first, of)?.key;
    let mut ahead = frame.ahead(number);
    while let Some(payload) = ahead.next()? {
        let key = Entry::read(&payload, of)?.key;
        if key <= last {
            return Ok(false);
        }
        last = key;
    }
    Ok(true)
}

/// The entries in order. Of several with one key the last counts.
fn gather<'de>(
    first: Payload<'de>,
    number: u32,
    frame: &mut Frame<'de>,
    of: Type,
) -> Result<Vec<Entry<'de>>, ProtobufError> {
    let mut entries = Vec::new();
    let mut next = Some(first);
    while let Some(payload) = next {
        entries.push(Entry::read(&payload, of)?);
        next = frame.next_if(number)?;
    }
    entries.sort_by(|a, b| a.key.cmp(b.key));
    entries.reverse();
    entries.dedup_by(|a, b| a.key == b.key);
    entries.reverse();
    Ok(entries)
}

impl<'de> MapAccess<'de> for Map<'_, 'de> {
    type Error = ProtobufError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ProtobufError> {
        let Some(entry) = self.next_entry()? else { return Ok(None) };
        let key = go_text(entry.key);
        self.value = Some(entry);
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ProtobufError> {
        // A visitor that asks for a value before a key gets nothing.
        let Some(entry) = self.value.take() else {
            return seed.deserialize(().into_deserializer());
        };
        let value = Value::new(self.context, self.of, entry.value);
        seed.deserialize(value).map_err(|error| error.inside(Segment::Key(go_text(entry.key).into_owned())))
    }
}

/// A key.
struct Key<'de>(Cow<'de, str>);

impl<'de> serde::de::Deserializer<'de> for Key<'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: serde::de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        visit_text(self.0, visitor)
    }

    fn deserialize_newtype_struct<V: serde::de::Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: serde::de::Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        super::visit_variant(&self.0, visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}
