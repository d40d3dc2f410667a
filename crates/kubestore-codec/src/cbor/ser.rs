//! Serde types into CBOR.

use ciborium_ll::Header;
use serde::{Serialize, ser};

use super::{
    compound::{Members, Values},
    de::MAX_SERDE_DEPTH,
    error::CborError,
    header::{NULL, SELF_DESCRIBED, write_bool, write_header, write_integer, write_text},
};

/// Writes a value of any serde type as Kubernetes writes CBOR: the self-described tag, names and text as byte strings, members
/// in the order of their encoded names, numbers in their shortest form.
///
/// What the type serialises as bytes is written as bytes inside of tag 22, as Kubernetes writes its `[]byte`. A type that
/// serialises them as base64, such as `ByteString` of `k8s-openapi`, is written as text; both are the same to every
/// reader.
///
/// # Errors
/// The value has a float that is not a finite number, an integer beyond 64 bits with a sign, names that are not text, or more
/// than 512 levels; or its type refuses.
///
/// ```
/// use kubestore_codec::cbor;
/// let written = cbor::to_vec(&serde_json::json!({"name": "a", "n": 1.5, "id": 700}))?;
/// assert_eq!(written, b"\xd9\xd9\xf7\xa3\x41n\xf9\x3e\x00\x42id\x19\x02\xbc\x44name\x41a");
/// # Ok::<(), cbor::CborError>(())
/// ```
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CborError> {
    let mut serializer = Serializer::new(&[]);
    value.serialize(&mut serializer)?;
    Ok(serializer.out)
}

/// An object and its type, as they were written.
pub(super) struct Written {
    pub(super) object: Vec<u8>,
    pub(super) api_version: String,
    pub(super) kind: String,
}

/// Writes an object, with texts for members that are missing, null or empty.
pub(super) fn write_object<T: Serialize>(
    object: &T,
    supplied: &[(&str, &str)],
) -> Result<Written, CborError> {
    let mut serializer = Serializer::new(supplied);
    object.serialize(&mut serializer)?;
    let Serializer { out, api_version, kind, .. } = serializer;
    Ok(Written { object: out, api_version, kind })
}

pub(super) struct Serializer<'s> {
    pub(super) out: Vec<u8>,
    pub(super) levels: usize,
    pub(super) supplied: &'s [(&'s str, &'s str)],
    /// Texts of the outermost map.
    pub(super) api_version: String,
    pub(super) kind: String,
}

impl<'s> Serializer<'s> {
    fn new(supplied: &'s [(&'s str, &'s str)]) -> Self {
        Self {
            out: SELF_DESCRIBED.to_vec(),
            levels: 0,
            supplied,
            api_version: String::new(),
            kind: String::new(),
        }
    }

    pub(super) fn deeper(&mut self) -> Result<(), CborError> {
        if self.levels == MAX_SERDE_DEPTH {
            return Err(CborError::without_offset(format!("nested deeper than {MAX_SERDE_DEPTH} levels")));
        }
        self.levels += 1;
        Ok(())
    }

    /// A map of one member, whose value is to follow.
    fn variant(&mut self, name: &str) -> Result<(), CborError> {
        self.deeper()?;
        write_header(&mut self.out, Header::Map(Some(1)));
        write_text(&mut self.out, name);
        Ok(())
    }
}

fn beyond_64_bits() -> CborError {
    CborError::without_offset("an integer beyond 64 bits with a sign")
}

macro_rules! integers {
    ($($serialize:ident: $integer:ty,)*) => {$(
        fn $serialize(self, number: $integer) -> Result<(), CborError> {
            write_integer(&mut self.out, number.try_into().map_err(|_| beyond_64_bits())?);
            Ok(())
        }
    )*};
}

impl<'a, 's> ser::Serializer for &'a mut Serializer<'s> {
    type Ok = ();
    type Error = CborError;
    type SerializeSeq = Values<'a, 's>;
    type SerializeTuple = Values<'a, 's>;
    type SerializeTupleStruct = Values<'a, 's>;
    type SerializeTupleVariant = Values<'a, 's>;
    type SerializeMap = Members<'a, 's>;
    type SerializeStruct = Members<'a, 's>;
    type SerializeStructVariant = Members<'a, 's>;

    fn serialize_bool(self, value: bool) -> Result<(), CborError> {
        write_bool(&mut self.out, value);
        Ok(())
    }

    fn serialize_i64(self, number: i64) -> Result<(), CborError> {
        write_integer(&mut self.out, number);
        Ok(())
    }

    integers! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
    }

    fn serialize_f32(self, number: f32) -> Result<(), CborError> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), CborError> {
        if !number.is_finite() {
            return Err(CborError::without_offset("a float that is not a finite number"));
        }
        write_header(&mut self.out, Header::Float(number));
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), CborError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), CborError> {
        write_text(&mut self.out, text);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), CborError> {
        const BASE64: u64 = 22;
        write_header(&mut self.out, Header::Tag(BASE64));
        write_header(&mut self.out, Header::Bytes(Some(bytes.len())));
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), CborError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CborError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), CborError> {
        self.out.push(NULL);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CborError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), CborError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CborError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), CborError> {
        self.variant(variant)?;
        value.serialize(&mut *self)?;
        self.levels -= 1;
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Values<'a, 's>, CborError> {
        Values::begin(self, 1)
    }

    fn serialize_tuple(self, _: usize) -> Result<Values<'a, 's>, CborError> {
        Values::begin(self, 1)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Values<'a, 's>, CborError> {
        Values::begin(self, 1)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Values<'a, 's>, CborError> {
        self.variant(variant)?;
        Values::begin(self, 2)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a, 's>, CborError> {
        Members::begin(self, 1)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'a, 's>, CborError> {
        Members::begin(self, 1)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a, 's>, CborError> {
        self.variant(variant)?;
        Members::begin(self, 2)
    }
}
