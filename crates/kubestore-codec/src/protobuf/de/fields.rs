//! A message as a map from names in JSON to values.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, MapAccess, value::BorrowedStrDeserializer};

use super::{
    Context,
    frame::Frame,
    special,
    value::{Content, Items, Value},
};
use crate::protobuf::{
    error::ProtobufError,
    schema::{Field, Form, Message, Type},
    wire::Payload,
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
        let context = self.context;
        let (field, content) = match std::mem::replace(&mut self.next, Next::None) {
            // A visitor that asks for a value before a name gets nothing.
            Next::None => return seed.deserialize(Value::new(context, Content::Null)),
            Next::Text(name, text) => {
                let value = seed.deserialize(Value::new(context, Content::Text(text)));
                return value.map_err(|error| error.in_field(name));
            }
            Next::Null(field) => (field, Content::Null),
            Next::Field(field, payload) if matches!(field.form, Form::List | Form::Map) => {
                let items = Items {
                    of: field.of,
                    are_typed_claims: field.has_typed_claims,
                    number: field.number,
                    first: Some(payload),
                    frame: &mut self.frame,
                };
                (field, if field.form == Form::List { Content::List(items) } else { Content::Map(items) })
            }
            Next::Field(field, payload) => (field, Content::Single(field.of, payload)),
        };
        let is_repeated = matches!(content, Content::List(_) | Content::Map(_));
        let value =
            seed.deserialize(Value::new(context, content)).map_err(|error| error.in_field(field.name))?;
        if is_repeated {
            // What the visitor did not ask for.
            while self.frame.next_if(field.number)?.is_some() {}
        }
        Ok(value)
    }
}
