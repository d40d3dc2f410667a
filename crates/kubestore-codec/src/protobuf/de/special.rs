//! Types whose JSON is not that of a message.

use serde::de::Visitor;

use super::{Context, Deserializer, fields::Fields, value::Value, visit_text};
use crate::{
    json::go_text,
    protobuf::{
        duration,
        error::{Problem, ProtobufError, Segment},
        quantity,
        schema::Type,
        time::Moment,
        wire::{Payload, Reader, Record, low_half},
    },
};

/// Gives the value of a special type.
pub(super) fn visit<'de, V: Visitor<'de>>(
    context: Context,
    of: Type,
    payload: &Payload<'de>,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    check(of, payload)?;
    match of {
        Type::Quantity => match last(payload, 1)? {
            None => visitor.visit_borrowed_str("0"),
            Some(text) => visit_quantity(text.bytes()?, visitor),
        },
        Type::IntOrString => visit_int_or_string(payload, visitor),
        Type::Time | Type::MicroTime => {
            let precise = of == Type::MicroTime;
            visit_time(Moment::read(payload, precise)?, precise, visitor)
        }
        Type::Duration => {
            let nanos = last(payload, 1)?.map_or(Ok(0), |nanos| nanos.int64())?;
            visit_text(duration::format(nanos), visitor)
        }
        Type::RawExtension | Type::Json => visit_raw(context, of, payload, visitor),
        Type::Texts => visitor.visit_seq(Items::new(context, Type::Text, all(payload, 1)?)),
        Type::SchemaOrBool(index) => match merged(payload, 2)? {
            Some(schema) => visit_message(context, index, &schema, visitor),
            None => visitor.visit_bool(last(payload, 1)?.map_or(Ok(0), |allows| allows.varint())? != 0),
        },
        Type::SchemaOrArray(index) => visit_schema_or(context, index, Type::Message(index), payload, visitor),
        Type::SchemaOrTexts(index) => visit_schema_or(context, index, Type::Text, payload, visitor),
        // The others are not special.
        _ => visitor.visit_unit(),
    }
}

/// Checks the wire types of the parts, whether they count or not.
fn check(of: Type, payload: &Payload<'_>) -> Result<(), ProtobufError> {
    for part in payload.parts()? {
        let mut fields = Reader::new(part);
        while let Some(Record { number, payload }) = fields.next()? {
            if let Some(expected) = of.parts().get(number as usize - 1) {
                payload.check_type(*expected)?;
            }
        }
    }
    Ok(())
}

/// Whether the value is `null` in JSON.
#[inline]
pub(super) fn is_null(of: Type, payload: &Payload<'_>) -> Result<bool, ProtobufError> {
    if of.may_be_null() { is_null_on_wire(of, payload) } else { Ok(false) }
}

fn is_null_on_wire(of: Type, payload: &Payload<'_>) -> Result<bool, ProtobufError> {
    match of {
        Type::Time | Type::MicroTime => Ok(Moment::read(payload, of == Type::MicroTime)?.is_none()),
        Type::RawExtension | Type::Json => Ok(raw(payload)?.is_none_or(|raw| raw.trim_ascii() == b"null")),
        Type::SchemaOrArray(_) | Type::SchemaOrTexts(_) => {
            Ok(all(payload, 2)?.is_empty() && merged(payload, 1)?.is_none())
        }
        _ => Ok(false),
    }
}

/// Whether it is the time that stands for none.
pub(super) fn is_zero_time(payload: &Payload<'_>) -> Result<bool, ProtobufError> {
    Moment::read(payload, false).map(Moment::is_none)
}

/// The last occurrence of a field.
fn last<'de>(payload: &Payload<'de>, number: u32) -> Result<Option<Payload<'de>>, ProtobufError> {
    Ok(all(payload, number)?.pop())
}

/// All occurrences of a field. These messages have one to three fields.
fn all<'de>(payload: &Payload<'de>, number: u32) -> Result<Vec<Payload<'de>>, ProtobufError> {
    let mut found = Vec::new();
    for part in payload.parts()? {
        let mut fields = Reader::new(part);
        while let Some(Record { number: own, payload }) = fields.next()? {
            if own == number {
                found.push(payload);
            }
        }
    }
    Ok(found)
}

/// A message that may be there in parts.
fn merged<'de>(payload: &Payload<'de>, number: u32) -> Result<Option<Payload<'de>>, ProtobufError> {
    let mut found = all(payload, number)?;
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => {
            let parts: Result<Vec<&[u8]>, _> = found.iter().map(Payload::bytes).collect();
            parts.map(|parts| Some(Payload::Parts(parts)))
        }
    }
}

fn visit_quantity<'de, V: Visitor<'de>>(text: &'de [u8], visitor: V) -> Result<V::Value, ProtobufError> {
    match std::str::from_utf8(text).ok().and_then(quantity::canonical) {
        Some(text) => visit_text(text, visitor),
        None => Err(ProtobufError::new(Problem::Invalid("a quantity that is none"))),
    }
}

fn visit_int_or_string<'de, V: Visitor<'de>>(
    payload: &Payload<'de>,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    let of = last(payload, 1)?.map_or(Ok(0), |of| of.int64())?;
    match of {
        0 => visitor.visit_i64(last(payload, 2)?.map_or(Ok(0), |value| value.varint().map(low_half))?.into()),
        1 => visit_text(last(payload, 3)?.map_or(Ok(&[][..]), |text| text.bytes()).map(go_text)?, visitor),
        _ => Err(ProtobufError::new(Problem::Invalid("neither a number nor a text"))),
    }
}

fn visit_time<'de, V: Visitor<'de>>(
    time: Moment,
    precise: bool,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    if time.is_none() {
        return visitor.visit_unit();
    }
    match time.format(precise, &mut [0; 27]) {
        Some(text) => visitor.visit_str(text),
        None => Err(ProtobufError::new(Problem::Invalid("a time outside of the years 0 to 9999"))),
    }
}

/// The bytes inside of an extension. None of them are `null`.
fn raw<'de>(payload: &Payload<'de>) -> Result<Option<&'de [u8]>, ProtobufError> {
    match last(payload, 1)? {
        Some(raw) => Ok(Some(raw.bytes()?).filter(|raw| !raw.is_empty())),
        None => Ok(None),
    }
}

fn visit_raw<'de, V: Visitor<'de>>(
    context: Context,
    of: Type,
    payload: &Payload<'de>,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    let Some(raw) = raw(payload)? else { return visitor.visit_unit() };
    if of == Type::RawExtension && raw.starts_with(b"k8s\0") {
        let inner = Deserializer::new(raw)?.release(context.release);
        return visitor.visit_map(inner.fields_within(context)?);
    }
    let mut json = serde_json::Deserializer::from_slice(raw);
    let value = serde::Deserializer::deserialize_any(&mut json, visitor);
    // The text of an error of serde may quote the value.
    let value = value.map_err(|error| match error.classify() {
        serde_json::error::Category::Data => ProtobufError::new(Problem::NotTaken),
        _ => ProtobufError::new(Problem::NotJson),
    })?;
    json.end().map_err(|_| ProtobufError::new(Problem::NotJson))?;
    Ok(value)
}

fn visit_message<'de, V: Visitor<'de>>(
    context: Context,
    index: u16,
    payload: &Payload<'de>,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    visitor.visit_map(Fields::new(context, context.schema.message(index), payload)?)
}

/// A list if it is not empty, else one schema.
fn visit_schema_or<'de, V: Visitor<'de>>(
    context: Context,
    schema: u16,
    of: Type,
    payload: &Payload<'de>,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    let items = all(payload, 2)?;
    if !items.is_empty() {
        return visitor.visit_seq(Items::new(context, of, items));
    }
    match merged(payload, 1)? {
        Some(of) => visit_message(context, schema, &of, visitor),
        None => visitor.visit_unit(),
    }
}

/// Values that were looked up.
struct Items<'de> {
    context: Context,
    of: Type,
    items: std::iter::Enumerate<std::vec::IntoIter<Payload<'de>>>,
}

impl<'de> Items<'de> {
    fn new(context: Context, of: Type, items: Vec<Payload<'de>>) -> Self {
        Self { context, of, items: items.into_iter().enumerate() }
    }
}

impl<'de> serde::de::SeqAccess<'de> for Items<'de> {
    type Error = ProtobufError;

    fn next_element_seed<T: serde::de::DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ProtobufError> {
        let Some((index, item)) = self.items.next() else { return Ok(None) };
        let value = Value::new(self.context, self.of, item);
        seed.deserialize(value).map(Some).map_err(|error| error.inside(Segment::Index(index)))
    }
}
