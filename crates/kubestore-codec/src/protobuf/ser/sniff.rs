//! The type of an object, found without serialising the rest.

use std::borrow::Cow;

use serde::{
    Serialize,
    ser::{self, Impossible, SerializeMap, SerializeStruct},
};

use super::text::TextSerializer;
use crate::{
    protobuf::error::{Problem, ProtobufError},
    refuse::refuse_parts,
};

/// What every object says of itself; "" where it does not.
#[derive(Default)]
pub(super) struct TypeMeta {
    pub(super) api_version: String,
    pub(super) kind: String,
}

/// Looks through the members of an object.
pub(super) fn type_of<T: Serialize + ?Sized>(object: &T) -> Result<TypeMeta, ProtobufError> {
    object.serialize(Sniffer)
}

struct Sniffer;

/// The members so far, and whether the next value is one that is looked for.
#[derive(Default)]
struct Members {
    found: TypeMeta,
    next: Member,
}

#[derive(Clone, Copy, Default)]
enum Member {
    ApiVersion,
    Kind,
    #[default]
    Other,
}

impl Member {
    fn of(name: &str) -> Self {
        match name {
            "apiVersion" => Self::ApiVersion,
            "kind" => Self::Kind,
            _ => Self::Other,
        }
    }
}

impl Members {
    fn value<T: Serialize + ?Sized>(&mut self, member: Member, value: &T) -> Result<(), ProtobufError> {
        let (place, name) = match member {
            Member::ApiVersion => (&mut self.found.api_version, "apiVersion"),
            Member::Kind => (&mut self.found.kind, "kind"),
            Member::Other => return Ok(()),
        };
        let text = value.serialize(TextSerializer(|text: &str| Cow::<str>::Owned(text.to_owned())));
        *place = text.map_err(|error| error.in_field(name))?.into_owned();
        Ok(())
    }
}

impl SerializeMap for Members {
    type Ok = TypeMeta;
    type Error = ProtobufError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ProtobufError> {
        self.next = key.serialize(TextSerializer(Member::of))?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ProtobufError> {
        self.value(self.next, value)
    }

    fn end(self) -> Result<TypeMeta, ProtobufError> {
        Ok(self.found)
    }
}

impl SerializeStruct for Members {
    type Ok = TypeMeta;
    type Error = ProtobufError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ProtobufError> {
        self.value(Member::of(name), value)
    }

    fn end(self) -> Result<TypeMeta, ProtobufError> {
        Ok(self.found)
    }
}

fn not_an_object<T>() -> Result<T, ProtobufError> {
    Err(ProtobufError::new(Problem::Expected("an object".to_owned())))
}

macro_rules! refuse {
    ($($method:ident($($argument:ty),*))*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<TypeMeta, ProtobufError> {
            not_an_object()
        }
    )*};
}

impl ser::Serializer for Sniffer {
    type Ok = TypeMeta;
    type Error = ProtobufError;
    type SerializeSeq = Impossible<TypeMeta, ProtobufError>;
    type SerializeTuple = Impossible<TypeMeta, ProtobufError>;
    type SerializeTupleStruct = Impossible<TypeMeta, ProtobufError>;
    type SerializeTupleVariant = Impossible<TypeMeta, ProtobufError>;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Impossible<TypeMeta, ProtobufError>;

    refuse_parts!(TypeMeta, ProtobufError, not_an_object);

    refuse! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_u8(u8)
        serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32) serialize_f64(f64)
        serialize_char(char) serialize_str(&str) serialize_bytes(&[u8]) serialize_none() serialize_unit()
        serialize_unit_struct(&'static str) serialize_unit_variant(&'static str, u32, &'static str)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<TypeMeta, ProtobufError> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<TypeMeta, ProtobufError> {
        value.serialize(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members, ProtobufError> {
        Ok(Members::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, ProtobufError> {
        Ok(Members::default())
    }
}
