//! Serde types out of CBOR.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer as _,
    de::{
        self, DeserializeSeed, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
        VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};

use super::{
    error::CborError,
    key::Key,
    later::Later,
    reader::{Item, Open, Reader},
};

/// The recursion follows the nesting, which is that of somebody's types.
pub(super) const MAX_SERDE_DEPTH: usize = 512;

/// Reads a value of any serde type from CBOR. The self-described tag may be there or not.
///
/// The type sees what it would see in JSON: byte strings are text, inside of the tags 21 to 23 as base64url, base64 or
/// hexadecimal; times (tags 0 and 1) are text; other tags are passed over. Text is borrowed from `data` where the type can
/// borrow. A type that asks for bytes gets those inside of the tags as they are, and decodes others from base64.
///
/// # Errors
/// `data` is nothing that Kubernetes reads as CBOR, has more than 512 levels, or not the form of `T`.
///
/// ```
/// use kubestore_codec::cbor;
/// // {"a": 1, "b": 22(h'0102')}
/// let data = b"\xd9\xd9\xf7\xa2\x41a\x01\x41b\xd6\x42\x01\x02";
/// let value: serde_json::Value = cbor::from_slice(data)?;
/// assert_eq!(value, serde_json::json!({"a": 1, "b": "AQI="}));
/// # Ok::<(), cbor::CborError>(())
/// ```
pub fn from_slice<'de, T: Deserialize<'de>>(data: &'de [u8]) -> Result<T, CborError> {
    let mut deserializer = Deserializer::new(data);
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// A serde deserializer over CBOR, for conversions to other formats without a value in between.
///
/// It gives what [`from_slice`] gives.
///
/// ```
/// use kubestore_codec::cbor;
/// use serde::Serialize as _;
/// let mut json = Vec::new();
/// let mut from = cbor::Deserializer::new(b"\xd9\xd9\xf7\xa1\x41a\xf9\x3e\x00");
/// serde_json::value::Value::serialize(
///     &serde::Deserialize::deserialize(&mut from)?,
///     &mut serde_json::Serializer::new(&mut json),
/// )?;
/// from.end()?;
/// assert_eq!(json, br#"{"a":1.5}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Deserializer<'de> {
    reader: Reader<'de>,
    /// What counts for the byte strings of the next item.
    later: Option<Later>,
    levels: usize,
    /// An item that was read to see whether it is null.
    peeked: Option<Item<'de>>,
}

impl<'de> Deserializer<'de> {
    /// Over the bytes of one value.
    #[must_use]
    pub fn new(data: &'de [u8]) -> Self {
        Self { reader: Reader::new(data), later: None, levels: 0, peeked: None }
    }

    /// Checks that nothing follows the value.
    ///
    /// # Errors
    /// Something does.
    pub fn end(&self) -> Result<(), CborError> {
        self.reader.end()
    }

    fn item(&mut self) -> Result<Item<'de>, CborError> {
        match self.peeked.take() {
            Some(item) => Ok(item),
            None => self.reader.item(self.later),
        }
    }

    fn visit<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, CborError> {
        match self.item()? {
            Item::Null => visitor.visit_unit(),
            Item::Bool(value) => visitor.visit_bool(value),
            // As a JSON reader does it.
            Item::Integer(number) => match u64::try_from(number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_i64(number),
            },
            Item::Float(number) => visitor.visit_f64(number),
            Item::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Item::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Item::Bytes(bytes, later) => visitor.visit_string(later.text(&bytes)),
            Item::Array(open) => self.inside(open, |values| visitor.visit_seq(values)),
            Item::Map(open) => self.inside(open, |members| visitor.visit_map(members)),
        }
    }

    /// Lets `read` have what is in a container, all of it.
    fn inside<V>(
        &mut self,
        open: Open<'de>,
        read: impl FnOnce(&mut Inside<'_, 'de>) -> Result<V, CborError>,
    ) -> Result<V, CborError> {
        if self.levels == MAX_SERDE_DEPTH {
            return Err(CborError::new(
                format!("nested deeper than {MAX_SERDE_DEPTH} levels"),
                self.reader.at(),
            ));
        }
        let outside = self.later;
        self.levels += 1;
        let mut inside = Inside { deserializer: self, open };
        let value = read(&mut inside)?;
        let at = inside.deserializer.reader.at();
        if inside.deserializer.reader.more(&mut inside.open)? {
            return Err(CborError::new("more values than the type takes", at));
        }
        self.levels -= 1;
        self.later = outside;
        Ok(value)
    }

    fn bytes<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, CborError> {
        match self.item()? {
            Item::Bytes(Cow::Borrowed(bytes), _) => visitor.visit_borrowed_bytes(bytes),
            Item::Bytes(Cow::Owned(bytes), _) => visitor.visit_byte_buf(bytes),
            Item::Text(text) => match STANDARD.decode(&*text) {
                Ok(bytes) => visitor.visit_byte_buf(bytes),
                Err(_) => Err(CborError::without_offset("expected base64")),
            },
            other => {
                self.peeked = Some(other);
                self.visit(visitor)
            }
        }
    }

    fn variant<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, CborError> {
        match self.item()? {
            Item::Text(name) => visitor.visit_enum(name.into_deserializer()),
            Item::Map(open) => self.inside(open, |members| visitor.visit_enum(members)),
            _ => Err(CborError::invalid_type(Unexpected::Enum, &visitor)),
        }
    }
}

/// Puts the place of the item on errors of the type.
macro_rules! at_item {
    ($self:ident, $read:expr) => {{
        let at = $self.reader.at();
        $read.map_err(|error| error.or_at(at))
    }};
}

impl<'de> de::Deserializer<'de> for &mut Deserializer<'de> {
    type Error = CborError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CborError> {
        at_item!(self, self.visit(visitor))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CborError> {
        at_item!(self, self.bytes(visitor))
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CborError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CborError> {
        let at = self.reader.at();
        match self.item()? {
            Item::Null => visitor.visit_none(),
            item => {
                self.peeked = Some(item);
                visitor.visit_some(self)
            }
        }
        .map_err(|error: CborError| error.or_at(at))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, CborError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CborError> {
        at_item!(self, self.variant(visitor))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CborError> {
        let item = self.item()?;
        self.reader.walk(item, &mut super::reader::Unseen)?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// The values of a container.
struct Inside<'a, 'de> {
    deserializer: &'a mut Deserializer<'de>,
    open: Open<'de>,
}

impl<'de> Inside<'_, 'de> {
    fn value<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, CborError> {
        self.deserializer.later = self.open.later;
        seed.deserialize(&mut *self.deserializer)
    }

    fn key<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, CborError> {
        let at = self.deserializer.reader.at();
        match self.deserializer.reader.key(&mut self.open)? {
            Some(key) => seed.deserialize(Key(key)).map(Some).map_err(|error| error.or_at(at)),
            None => Ok(None),
        }
    }

    /// What remains according to the document, which may claim more than there is.
    fn at_most(&self) -> usize {
        self.open.at_most().min(self.deserializer.reader.remaining())
    }
}

impl<'de> SeqAccess<'de> for &mut Inside<'_, 'de> {
    type Error = CborError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, CborError> {
        if self.deserializer.reader.more(&mut self.open)? { self.value(seed).map(Some) } else { Ok(None) }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.at_most())
    }
}

impl<'de> MapAccess<'de> for &mut Inside<'_, 'de> {
    type Error = CborError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, CborError> {
        self.key(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, CborError> {
        self.value(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.at_most())
    }
}

/// A variant with content: a map of one member.
impl<'de> EnumAccess<'de> for &mut Inside<'_, 'de> {
    type Error = CborError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), CborError> {
        match self.key(seed)? {
            Some(variant) => Ok((variant, self)),
            None => Err(CborError::without_offset("expected the name of a variant")),
        }
    }
}

impl<'de> VariantAccess<'de> for &mut Inside<'_, 'de> {
    type Error = CborError;

    fn unit_variant(self) -> Result<(), CborError> {
        self.value(std::marker::PhantomData::<()>)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, CborError> {
        self.value(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, CborError> {
        self.struct_variant(&[], visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CborError> {
        self.deserializer.later = self.open.later;
        self.deserializer.deserialize_any(visitor)
    }
}
