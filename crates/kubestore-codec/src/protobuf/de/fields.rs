//! A message as a map from names in JSON to values.

use std::borrow::Cow;

use serde::{
    de::{DeserializeSeed, Deserializer, MapAccess, Visitor, value::BorrowedStrDeserializer},
    forward_to_deserialize_any,
};

use super::{Context, frame::Frame, list::List, map::Map, special, value::visit, visit_text, visit_variant};
use crate::{
    json::go_text,
    protobuf::{
        error::ProtobufError,
        schema::{Field, Form, Message, Type},
        wire::Payload,
    },
};

/// The members of a message.
pub(super) struct Fields<'de> {
    context: Context,
    frame: Frame<'de>,
    /// The messages that the current one is inlined into.
    outer: Vec<Frame<'de>>,
    /// What is not on the wire, for an object of a kind.
    head: Option<Box<Head<'de>>>,
    next: Next<'de>,
}

struct Head<'de> {
    api_version: Option<Cow<'de, str>>,
    kind: Option<Cow<'de, str>>,
}

/// The value whose name was given.
enum Next<'de> {
    None,
    Text(&'static str, Cow<'de, str>),
    Field(&'static Field, Payload<'de>),
    Null(&'static Field),
}

impl<'de> Fields<'de> {
    pub(super) fn new(
        context: Context,
        message: &'static Message,
        payload: &Payload<'de>,
    ) -> Result<Self, ProtobufError> {
        let context = context.deeper()?;
        let frame = Frame::new(message, payload)?;
        Ok(Self { context, frame, outer: Vec::new(), head: None, next: Next::None })
    }

    /// Of an object, whose type comes first.
    pub(super) fn of_object(
        context: Context,
        message: &'static Message,
        payload: &Payload<'de>,
        api_version: Cow<'de, str>,
        kind: Cow<'de, str>,
    ) -> Result<Self, ProtobufError> {
        let mut fields = Self::new(context, message, payload)?;
        fields.head = Some(Box::new(Head { api_version: Some(api_version), kind: Some(kind) }));
        Ok(fields)
    }

    /// Finds the next member and returns its name.
    fn advance(&mut self) -> Result<Option<&'static str>, ProtobufError> {
        if self.head.is_some()
            && let Some(name) = self.next_of_head()
        {
            return Ok(Some(name));
        }
        loop {
            if let Some((place, payload)) = self.frame.next()? {
                let field = &self.frame.message.fields[usize::from(place)];
                payload.check(field).map_err(|error| error.in_field(field.name))?;
                if field.form == Form::Inline {
                    self.enter(field, &payload)?;
                } else if self.is_shown(field, &payload).map_err(|error| error.in_field(field.name))? {
                    self.next = Next::Field(field, payload);
                    return Ok(Some(field.name));
                }
            } else if let Some(place) = self.frame.next_absent() {
                let field = &self.frame.message.fields[usize::from(place)];
                if field.form == Form::Inline {
                    self.enter(field, &Payload::EMPTY)?;
                } else if let Some(next) = self.absent(field) {
                    self.next = next;
                    return Ok(Some(field.name));
                }
            } else if let Some(outer) = self.outer.pop() {
                self.frame = outer;
            } else {
                return Ok(None);
            }
        }
    }

    fn next_of_head(&mut self) -> Option<&'static str> {
        let head = self.head.as_mut()?;
        let (name, text) = match (head.api_version.take(), head.kind.take()) {
            (Some(api_version), kind) => {
                head.kind = kind;
                ("apiVersion", api_version)
            }
            (None, Some(kind)) => ("kind", kind),
            (None, None) => {
                self.head = None;
                return None;
            }
        };
        self.next = Next::Text(name, text);
        Some(name)
    }

    fn enter(&mut self, field: &Field, payload: &Payload<'de>) -> Result<(), ProtobufError> {
        // Only messages are inlined.
        let Type::Message(index) = field.of else { return Ok(()) };
        let inner = Frame::new(self.context.schema.message(index), payload)?;
        self.outer.push(std::mem::replace(&mut self.frame, inner));
        Ok(())
    }

    /// Whether JSON has a field that is on the wire.
    fn is_shown(&self, field: &Field, payload: &Payload<'de>) -> Result<bool, ProtobufError> {
        if field.form != Form::Value {
            return Ok(true);
        }
        if field.omit_zero && self.context.release.omits_zero() {
            return Ok(field.of != Type::Time || !special::is_zero_time(payload)?);
        }
        if !field.omit_empty || field.of.is_struct() {
            return Ok(true);
        }
        Ok(match payload {
            Payload::Varint(value) => *value != 0,
            Payload::Fixed64(bits) => f64::from_bits(*bits) != 0.0,
            Payload::Bytes(_) | Payload::Parts(_) if field.of == Type::Texts => {
                payload.parts()?.iter().any(|part| !part.is_empty())
            }
            Payload::Bytes(_) | Payload::Parts(_) => !payload.bytes()?.is_empty(),
            Payload::Fixed32 => true,
        })
    }

    /// What JSON has for a field that is not on the wire.
    fn absent(&self, field: &'static Field) -> Option<Next<'de>> {
        let is_omitted = field.omit_zero && self.context.release.omits_zero();
        if is_omitted || !self.context.release.has(field.since) {
            return None;
        }
        let payload = match (field.form, field.of) {
            (Form::Pointer | Form::List | Form::Map, _) | (_, Type::Bytes | Type::Texts) => {
                return Some(Next::Null(field));
            }
            (_, Type::Bool | Type::Int32 | Type::Int64) => Payload::Varint(0),
            (_, Type::Double) => Payload::Fixed64(0),
            _ => Payload::EMPTY,
        };
        Some(Next::Field(field, payload))
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = ProtobufError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ProtobufError> {
        match self.advance()? {
            Some(name) => seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ProtobufError> {
        let (name, list) = match &self.next {
            // A visitor that asks for a value before a name gets nothing.
            Next::None => ("", None),
            Next::Text(name, _) => (*name, None),
            Next::Null(field) => (field.name, None),
            Next::Field(field, _) => {
                (field.name, matches!(field.form, Form::List | Form::Map).then_some(field.number))
            }
        };
        let value = seed.deserialize(Member(self)).map_err(|error| error.in_field(name))?;
        if let Some(number) = list {
            // What the visitor did not ask for.
            while self.frame.next_if(number)?.is_some() {}
        }
        Ok(value)
    }
}

/// The value of the member whose name was given.
struct Member<'f, 'de>(&'f mut Fields<'de>);

impl<'de> Deserializer<'de> for Member<'_, 'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        let Fields { context, frame, next, .. } = self.0;
        match std::mem::replace(next, Next::None) {
            Next::None | Next::Null(_) => visitor.visit_unit(),
            Next::Text(_, text) => visit_text(text, visitor),
            Next::Field(field, first) => match field.form {
                Form::List => visitor.visit_seq(List::new(*context, field, first, frame)),
                Form::Map => visitor.visit_map(Map::new(*context, field, first, frame)?),
                Form::Value | Form::Inline | Form::Pointer => visit(*context, field.of, &first, visitor),
            },
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        let is_null = match &self.0.next {
            Next::None | Next::Null(_) => true,
            Next::Field(field, payload) => {
                !matches!(field.form, Form::List | Form::Map) && special::is_null(field.of, payload)?
            }
            Next::Text(..) => false,
        };
        if is_null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        match &self.0.next {
            Next::Text(_, name) => visit_variant(name, visitor),
            Next::Field(field, payload) if field.of == Type::Text && field.form != Form::List => {
                visit_variant(&go_text(payload.bytes()?), visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}
