//! From protobuf to any type of serde, in one pass and without a tree in between.

mod fields;
mod frame;
mod list;
mod map;
mod special;
mod value;

use std::borrow::Cow;

use serde::{
    de::{self, IntoDeserializer as _, Visitor},
    forward_to_deserialize_any,
};

use self::fields::Fields;
use super::{
    MAX_MESSAGES,
    envelope::Envelope,
    error::{Problem, ProtobufError},
    release::Release,
    schema::{MessageType, Schema, schema},
    wire::Payload,
};

/// A deserializer of one object in protobuf. It gives what the object is in JSON, as the API server prints it: `apiVersion`
/// and `kind` first, then the fields by their names in JSON, empty ones left out or there as in Go.
///
/// Texts are borrowed from the value, unless they are not UTF-8: what is not becomes U+FFFD, as in Go's JSON. Fields of
/// numbers that are not known are passed over; [`unknown_fields`](super::unknown_fields) finds them.
#[derive(Clone, Debug)]
pub struct Deserializer<'de> {
    envelope: Envelope<'de>,
    /// For places in it.
    stored: Stored<'de>,
    of: MessageType,
    release: Release,
}

/// The whole value, which `Debug` does not show.
#[derive(Clone, Copy)]
struct Stored<'de>(&'de [u8]);

impl std::fmt::Debug for Stored<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl<'de> Deserializer<'de> {
    /// Of a stored value, envelope included.
    ///
    /// # Errors
    /// The value is not protobuf of Kubernetes, has no type, or is of a kind that is not known.
    pub fn new(stored: &'de [u8]) -> Result<Self, ProtobufError> {
        let envelope = Envelope::parse(stored)?;
        envelope.check_type()?;
        let of = MessageType::known(envelope.api_version(), envelope.kind())?;
        Ok(Self { envelope, stored: Stored(stored), of, release: Release::default() })
    }

    /// Chooses the version of Kubernetes whose API server prints.
    #[must_use]
    pub fn release(mut self, release: Release) -> Self {
        self.release = release;
        self
    }

    fn fields(self) -> Result<Fields<'de>, ProtobufError> {
        let context = Context { schema: schema(), release: self.release, depth: 0 };
        self.fields_within(context)
    }

    /// Of an object inside of another.
    fn fields_within(self, context: Context) -> Result<Fields<'de>, ProtobufError> {
        let (api_version, kind, message) = self.envelope.into_parts();
        Fields::of_object(context, self.of.message(), &Payload::Bytes(message), api_version, kind)
    }
}

impl<'de> de::Deserializer<'de> for Deserializer<'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        let stored = self.stored.0;
        self.fields().and_then(|fields| visitor.visit_map(fields)).map_err(|error| error.in_value(stored))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

/// What holds for the whole object.
#[derive(Clone, Copy)]
struct Context {
    schema: &'static Schema,
    release: Release,
    depth: u8,
}

impl Context {
    /// Inside of one message more.
    fn deeper(mut self) -> Result<Self, ProtobufError> {
        self.depth += 1;
        if self.depth > MAX_MESSAGES { Err(ProtobufError::new(Problem::TooDeep)) } else { Ok(self) }
    }
}

/// Gives a text, borrowed where it can be.
fn visit_text<'de, V: Visitor<'de>>(text: Cow<'de, str>, visitor: V) -> Result<V::Value, ProtobufError> {
    match text {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

/// Gives the name of a variant.
fn visit_variant<'de, V: Visitor<'de>>(name: &str, visitor: V) -> Result<V::Value, ProtobufError> {
    visitor.visit_enum(name.into_deserializer())
}
