//! One value: an item of a list, or of an entry of a map.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    de::{self, Visitor},
    forward_to_deserialize_any,
};

use super::{Context, fields::Fields, special, visit_text, visit_variant};
use crate::{
    json::go_text,
    protobuf::{
        error::{Problem, ProtobufError},
        schema::Type,
        wire::Payload,
    },
};

/// A value that has not been looked at.
pub(super) struct Value<'de> {
    pub(super) context: Context,
    pub(super) of: Type,
    pub(super) payload: Payload<'de>,
    /// It is a claim of a volume inside of another object, to which the API server adds its type.
    pub(super) is_typed_claim: bool,
}

impl<'de> Value<'de> {
    pub(super) fn new(context: Context, of: Type, payload: Payload<'de>) -> Self {
        Self { context, of, payload, is_typed_claim: false }
    }
}

impl<'de> de::Deserializer<'de> for Value<'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        match self.of {
            Type::Message(index) if self.is_typed_claim => {
                let message = self.context.schema.message(index);
                let (api_version, kind) = (Cow::Borrowed("v1"), Cow::Borrowed("PersistentVolumeClaim"));
                visitor.visit_map(Fields::of_object(self.context, message, &self.payload, api_version, kind)?)
            }
            of => visit(self.context, of, &self.payload, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        if special::is_null(self.of, &self.payload)? {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
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
        match self.of {
            Type::Text => visit_variant(&go_text(self.payload.bytes()?), visitor),
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

/// Gives a single value.
pub(super) fn visit<'de, V: Visitor<'de>>(
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
