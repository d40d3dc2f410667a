//! Names, which are text whatever serialises them.

use serde::{
    Serialize,
    ser::{self, Impossible},
};

use crate::{
    protobuf::error::{Problem, ProtobufError},
    refuse::refuse_parts,
};

/// Takes one text and does something with it. Numbers are text here, as they are as keys in JSON.
pub(super) struct TextSerializer<F>(pub(super) F);

fn not_text<T>() -> Result<T, ProtobufError> {
    Err(ProtobufError::new(Problem::Expected("text".to_owned())))
}

macro_rules! integers {
    ($($method:ident($integer:ty))*) => {$(
        fn $method(self, value: $integer) -> Result<R, ProtobufError> {
            Ok((self.0)(itoa::Buffer::new().format(value)))
        }
    )*};
}

impl<R, F: FnOnce(&str) -> R> ser::Serializer for TextSerializer<F> {
    type Ok = R;
    type Error = ProtobufError;
    type SerializeSeq = Impossible<R, ProtobufError>;
    type SerializeTuple = Impossible<R, ProtobufError>;
    type SerializeTupleStruct = Impossible<R, ProtobufError>;
    type SerializeTupleVariant = Impossible<R, ProtobufError>;
    type SerializeMap = Impossible<R, ProtobufError>;
    type SerializeStruct = Impossible<R, ProtobufError>;
    type SerializeStructVariant = Impossible<R, ProtobufError>;

    refuse_parts!(R, ProtobufError, not_text);

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_u8(u8) serialize_u16(u16)
        serialize_u32(u32) serialize_u64(u64)
    }

    fn serialize_str(self, text: &str) -> Result<R, ProtobufError> {
        Ok((self.0)(text))
    }

    fn serialize_char(self, value: char) -> Result<R, ProtobufError> {
        Ok((self.0)(value.encode_utf8(&mut [0; 4])))
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<R, ProtobufError> {
        Ok((self.0)(name))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<R, ProtobufError> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<R, ProtobufError> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<R, ProtobufError> {
        Ok((self.0)(""))
    }

    fn serialize_unit(self) -> Result<R, ProtobufError> {
        Ok((self.0)(""))
    }

    fn serialize_bool(self, _: bool) -> Result<R, ProtobufError> {
        not_text()
    }

    fn serialize_f32(self, _: f32) -> Result<R, ProtobufError> {
        not_text()
    }

    fn serialize_f64(self, _: f64) -> Result<R, ProtobufError> {
        not_text()
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<R, ProtobufError> {
        not_text()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<R, ProtobufError> {
        not_text()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, ProtobufError> {
        not_text()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, ProtobufError> {
        not_text()
    }
}
