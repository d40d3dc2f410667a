//! One value: that of a field, of an item of a list, or of an entry of a map.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    de::{self, Visitor},
    forward_to_deserialize_any,
};

use super::{
    Context, fields::Fields, frame::Frame, list::List, map::Map, special, visit_text, visit_variant,
};
use crate::{
    json::go_text,
    protobuf::{
        error::{Problem, ProtobufError},
        schema::Type,
        wire::Payload,
    },
};

/// A value that has not been looked at.
pub(super) struct Value<'f, 'de> {
    context: Context,
    content: Content<'f, 'de>,
}

pub(super) enum Content<'f, 'de> {
    Null,
    Text(Cow<'de, str>),
    Single(Type, Payload<'de>),
    /// A claim of a volume inside of another object, whose type is not on the wire.
    Claim(u16, Payload<'de>),
    List(Items<'f, 'de>),
    Map(Items<'f, 'de>),
}

/// The items of a list or a map: a first one, and those that follow it in the message.
pub(super) struct Items<'f, 'de> {
    pub(super) of: Type,
    pub(super) are_typed_claims: bool,
    pub(super) number: u32,
    pub(super) first: Option<Payload<'de>>,
    pub(super) frame: &'f mut Frame<'de>,
}

impl<'f, 'de> Value<'f, 'de> {
    pub(super) fn new(context: Context, content: Content<'f, 'de>) -> Self {
        Self { context, content }
    }

    fn is_null(&self) -> Result<bool, ProtobufError> {
        match &self.content {
            Content::Null => Ok(true),
            Content::Single(of, payload) => special::is_null(*of, payload),
            Content::Text(_) | Content::Claim(..) | Content::List(_) | Content::Map(_) => Ok(false),
        }
    }
}

impl<'de> de::Deserializer<'de> for Value<'_, 'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        match self.content {
            Content::Null => visitor.visit_unit(),
            Content::Text(text) => visit_text(text, visitor),
            Content::Single(of, payload) => visit_single(self.context, of, &payload, visitor),
            Content::Claim(index, payload) => {
                let message = self.context.schema.message(index);
                let (api_version, kind) = (Cow::Borrowed("v1"), Cow::Borrowed("PersistentVolumeClaim"));
                visitor.visit_map(Fields::of_object(self.context, message, &payload, api_version, kind)?)
            }
            Content::List(items) => visitor.visit_seq(List::new(self.context, items)),
            Content::Map(items) => visitor.visit_map(Map::new(self.context, items)?),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        if self.is_null()? { visitor.visit_none() } else { visitor.visit_some(self) }
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
        match self.content {
            Content::Text(name) => visit_variant(&name, visitor),
            Content::Single(Type::Text, payload) => visit_variant(&go_text(payload.bytes()?), visitor),
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

fn visit_single<'de, V: Visitor<'de>>(
    context: Context,
    of: Type,
    payload: &Payload<'de>,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    match of {
        Type::Text => visit_text(go_text(payload.bytes()?), visitor),
        Type::Message(index) => {
            visitor.visit_map(Fields::new(context, context.schema.message(index), payload)?)
        }
        Type::Bool => visitor.visit_bool(payload.varint()? != 0),
        Type::Int32 => visitor.visit_i64(payload.int32()?.into()),
        Type::Int64 => visitor.visit_i64(payload.int64()?),
        Type::Double => visit_double(payload.double()?, visitor),
        Type::Bytes => visitor.visit_string(STANDARD.encode(payload.bytes()?)),
        _ => special::visit(context, of, payload, visitor),
    }
}

/// JSON has no floats but numbers, of which those without a fraction are read as integers.
fn visit_double<'de, V: Visitor<'de>>(value: f64, visitor: V) -> Result<V::Value, ProtobufError> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !value.is_finite() {
        return Err(ProtobufError::new(Problem::Invalid("a float that is not a finite number")));
    }
    if value.fract() == 0.0 && value.abs() <= EXACT && !(value == 0.0 && value.is_sign_negative()) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it was checked to be an integer of at most 53 bits"
        )]
        return visitor.visit_i64(value as i64);
    }
    visitor.visit_f64(value)
}
