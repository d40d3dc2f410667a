//! Serde types into CBOR.

use std::ops::Range;

use ciborium_ll::Header;
use serde::{
    Serialize,
    ser::{self, SerializeMap as _},
};

use super::{
    de::MAX_SERDE_DEPTH,
    error::CborError,
    header::{NULL, SELF_DESCRIBED, write_bool, write_header, write_integer, write_text},
    name::Name,
    reader::MAX_MEMBERS,
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
    to_vec_with(value, &[])
}

/// The same with texts for members of the outermost map that are missing, null or empty.
pub(super) fn to_vec_with<T: Serialize + ?Sized>(
    value: &T,
    supplied: &[(&str, &str)],
) -> Result<Vec<u8>, CborError> {
    let mut serializer = Serializer { out: SELF_DESCRIBED.to_vec(), levels: 0, supplied };
    value.serialize(&mut serializer)?;
    Ok(serializer.out)
}

struct Serializer<'s> {
    out: Vec<u8>,
    levels: usize,
    supplied: &'s [(&'s str, &'s str)],
}

impl Serializer<'_> {
    fn deeper(&mut self) -> Result<(), CborError> {
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

/// An array whose length is not known before its end.
struct Values<'a, 's> {
    serializer: &'a mut Serializer<'s>,
    start: usize,
    count: usize,
    levels: usize,
}

impl<'a, 's> Values<'a, 's> {
    fn begin(serializer: &'a mut Serializer<'s>, levels: usize) -> Result<Self, CborError> {
        serializer.deeper()?;
        let start = serializer.out.len();
        Ok(Self { serializer, start, count: 0, levels })
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CborError> {
        self.count += 1;
        value.serialize(&mut *self.serializer)
    }

    fn finish(self) {
        let mut header = Vec::new();
        write_header(&mut header, Header::Array(Some(self.count)));
        self.serializer.out.splice(self.start..self.start, header);
        self.serializer.levels -= self.levels;
    }
}

macro_rules! values {
    ($($serialize:ident: $method:ident,)*) => {$(
        impl ser::$serialize for Values<'_, '_> {
            type Ok = ();
            type Error = CborError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CborError> {
                self.value(value)
            }

            fn end(self) -> Result<(), CborError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}
values! {
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}

/// A map whose members are put in order at its end.
struct Members<'a, 's> {
    serializer: &'a mut Serializer<'s>,
    start: usize,
    /// Name and encoded value, as parts of what was written since the start.
    members: Vec<(Range<usize>, Range<usize>)>,
    name: Range<usize>,
    levels: usize,
    is_outermost: bool,
}

impl<'a, 's> Members<'a, 's> {
    fn begin(serializer: &'a mut Serializer<'s>, levels: usize) -> Result<Self, CborError> {
        serializer.deeper()?;
        let start = serializer.out.len();
        let is_outermost = serializer.levels == 1;
        Ok(Self { serializer, start, members: Vec::new(), name: 0..0, levels, is_outermost })
    }

    fn length(&self) -> usize {
        self.serializer.out.len() - self.start
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: Range<usize>, value: &T) -> Result<(), CborError> {
        let from = self.length();
        value.serialize(&mut *self.serializer)?;
        self.members.push((name, from..self.length()));
        Ok(())
    }

    fn name(&mut self, name: &str) -> Range<usize> {
        let from = self.length();
        self.serializer.out.extend_from_slice(name.as_bytes());
        from..self.length()
    }

    fn finish(mut self) -> Result<(), CborError> {
        if self.is_outermost {
            self.supply()?;
        }
        let written = self.serializer.out.split_off(self.start);
        let name = |member: &(Range<usize>, Range<usize>)| &written[member.0.clone()];
        // The order of the encoded names: their length comes first. Of equal names the last stays.
        self.members.sort_by(|a, b| (a.0.len(), name(a)).cmp(&(b.0.len(), name(b))));
        self.members.reverse();
        self.members.dedup_by(|a, b| name(a) == name(b));
        self.members.reverse();
        if self.members.len() > MAX_MEMBERS {
            return Err(CborError::without_offset(format!("more than {MAX_MEMBERS} members")));
        }
        let out = &mut self.serializer.out;
        write_header(out, Header::Map(Some(self.members.len())));
        for (name, value) in self.members {
            write_header(out, Header::Bytes(Some(name.len())));
            out.extend_from_slice(&written[name]);
            out.extend_from_slice(&written[value]);
        }
        self.serializer.levels -= self.levels;
        Ok(())
    }

    /// Adds the supplied texts where there is nothing else.
    fn supply(&mut self) -> Result<(), CborError> {
        const EMPTY: u8 = 0x40;
        for (name, text) in self.serializer.supplied {
            let written = &self.serializer.out[self.start..];
            let own = self.members.iter().rfind(|(own, _)| written[own.clone()] == *name.as_bytes());
            if own.is_none_or(|(_, value)| matches!(written[value.clone()], [NULL | EMPTY])) {
                let name = self.name(name);
                self.member(name, *text)?;
            }
        }
        Ok(())
    }
}

impl ser::SerializeMap for Members<'_, '_> {
    type Ok = ();
    type Error = CborError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CborError> {
        let name = key.serialize(Name)?;
        self.name = self.name(&name);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CborError> {
        self.member(self.name.clone(), value)
    }

    fn end(self) -> Result<(), CborError> {
        self.finish()
    }
}

macro_rules! fields {
    ($($serialize:ident)*) => {$(
        impl ser::$serialize for Members<'_, '_> {
            type Ok = ();
            type Error = CborError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), CborError> {
                self.serialize_entry(name, value)
            }

            fn end(self) -> Result<(), CborError> {
                self.finish()
            }
        }
    )*};
}
fields! { SerializeStruct SerializeStructVariant }
