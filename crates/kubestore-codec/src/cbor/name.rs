//! Serde types as names of members.

use serde::{Serialize, Serializer, ser::Impossible};

use super::error::CborError;
use crate::refuse::refuse_parts;

/// Serialises the key of a map: text, and what JSON writers make text of.
pub(super) struct Name;

fn not_text<T>() -> Result<T, CborError> {
    Err(CborError::without_offset("a name that is not text"))
}

macro_rules! written {
    ($($serialize:ident: $value:ty,)*) => {$(
        fn $serialize(self, value: $value) -> Result<String, CborError> {
            Ok(value.to_string())
        }
    )*};
}

impl Serializer for Name {
    type Ok = String;
    type Error = CborError;
    type SerializeSeq = Impossible<String, CborError>;
    type SerializeTuple = Impossible<String, CborError>;
    type SerializeTupleStruct = Impossible<String, CborError>;
    type SerializeTupleVariant = Impossible<String, CborError>;
    type SerializeMap = Impossible<String, CborError>;
    type SerializeStruct = Impossible<String, CborError>;
    type SerializeStructVariant = Impossible<String, CborError>;

    refuse_parts!(String, CborError, not_text);

    written! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char,
        serialize_str: &str,
    }

    fn serialize_f32(self, _: f32) -> Result<String, CborError> {
        not_text()
    }

    fn serialize_f64(self, _: f64) -> Result<String, CborError> {
        not_text()
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<String, CborError> {
        not_text()
    }

    fn serialize_none(self) -> Result<String, CborError> {
        not_text()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<String, CborError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<String, CborError> {
        not_text()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<String, CborError> {
        not_text()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<String, CborError> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<String, CborError> {
        value.serialize(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, CborError> {
        not_text()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, CborError> {
        not_text()
    }
}
