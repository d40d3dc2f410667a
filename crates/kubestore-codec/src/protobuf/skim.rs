//! Answers for selectors, found on the wire without decoding the object.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use kubestore_core::{Found, Wanted};

use super::{
    duration,
    entry::Entry,
    envelope::Envelope,
    error::ProtobufError,
    quantity,
    schema::{Field, Form, Message, MessageType, Type, schema},
    time::Moment,
    wire::{Payload, Reader, Record, low_half},
};
use crate::{
    field::FieldPath,
    json::{field_text, go_text},
    value::Value,
};

/// Why there is no answer: the object is damaged, of a kind that is not known, or one that only the decoder reads right.
pub(super) struct GivenUp;

impl From<ProtobufError> for GivenUp {
    fn from(_: ProtobufError) -> Self {
        Self
    }
}

type Answer<'a> = Result<Option<Cow<'a, str>>, GivenUp>;

/// What is wanted of an object, if `is_kind` says yes to its kind.
pub(super) fn skim<'a>(
    stored: &'a [u8],
    wanted: &Wanted,
    is_kind: impl FnOnce(&str) -> bool,
) -> Result<Found<'a>, GivenUp> {
    let envelope = Envelope::parse(stored)?;
    envelope.check_type()?;
    let of = MessageType::known(envelope.api_version(), envelope.kind())?.message();
    // A list cannot take a resource version, which matters to a watch even where it does not match.
    if !is_kind(envelope.kind()) || of.member("items").is_some() {
        return Err(GivenUp);
    }
    let mut found = wanted.nothing_found();
    if !wanted.labels.is_empty() {
        find_labels(of, envelope.message(), wanted, &mut found.labels)?;
    }
    for (answer, path) in found.fields.iter_mut().zip(&wanted.fields) {
        let path = FieldPath::new(path);
        let mut segments = path.segments();
        *answer = match segments.next().unwrap_or_default() {
            "apiVersion" => whole(segments, Cow::Owned(envelope.api_version().to_owned())),
            "kind" => whole(segments, Cow::Owned(envelope.kind().to_owned())),
            first => find(of, envelope.message(), first, segments, path)?,
        };
    }
    Ok(found)
}

/// `text`, unless the path goes on.
fn whole<'a, 'p>(mut rest: impl Iterator<Item = &'p str>, text: Cow<'a, str>) -> Option<Cow<'a, str>> {
    rest.next().is_none().then_some(text)
}

fn find_labels<'a>(
    of: &'static Message,
    message: &'a [u8],
    wanted: &Wanted,
    answers: &mut [Option<Cow<'a, str>>],
) -> Result<(), GivenUp> {
    let Some((metadata, field)) = singular(of, message, "metadata")? else { return Ok(()) };
    let Type::Message(index) = field.of else { return Ok(()) };
    let Some((_, labels, _)) = schema().message(index).member("labels") else { return Ok(()) };
    let Some(metadata) = metadata else { return Ok(()) };
    let mut fields = Reader::new(metadata.bytes()?);
    while let Some(record) = fields.next()? {
        if record.number == labels.number {
            let entry = Entry::read(&record.payload, Type::Text)?;
            // Of several entries with one key the last counts.
            for (answer, key) in answers.iter_mut().zip(&wanted.labels) {
                if go_text(entry.key) == *key {
                    *answer = Some(go_text(entry.value.bytes()?));
                }
            }
        }
    }
    Ok(())
}

/// Follows a path to its end.
fn find<'a, 'p>(
    mut of: &'static Message,
    mut message: &'a [u8],
    first: &'p str,
    mut rest: impl Iterator<Item = &'p str>,
    path: FieldPath<'_>,
) -> Answer<'a> {
    let mut name = first;
    loop {
        let Some((payload, field)) = singular(of, message, name)? else { return Ok(None) };
        let next = rest.next();
        match (field.form, field.of, next) {
            (Form::Map, value, Some(key)) => {
                let Some(entry) = last_entry(message, of, name, value, key)? else { return Ok(None) };
                match (value, rest.next()) {
                    (Type::Message(index), Some(next)) => {
                        (of, message, name) = (schema().message(index), entry.bytes()?, next);
                    }
                    (_, Some(_)) => return inside(value),
                    (_, None) => return text(value, &entry, path),
                }
            }
            (Form::List | Form::Map, ..) => return Ok(None),
            (_, Type::Message(index), Some(next)) => {
                let inner = match payload {
                    Some(payload) => payload,
                    None if field.form == Form::Pointer || field.since > 0 => return Ok(None),
                    // A value that is not on the wire is one that is zero.
                    None => Payload::EMPTY,
                };
                (of, message, name) = (schema().message(index), inner.bytes()?, next);
            }
            (_, of, Some(_)) => return if payload.is_some() { inside(of) } else { Ok(None) },
            (_, _, None) => return leaf(field, payload, path),
        }
    }
}

/// The answer to a path that goes on inside of a scalar, which has nothing inside; but JSON may.
fn inside<'a>(of: Type) -> Answer<'a> {
    match of {
        Type::RawExtension
        | Type::Json
        | Type::SchemaOrBool(_)
        | Type::SchemaOrArray(_)
        | Type::SchemaOrTexts(_) => Err(GivenUp),
        _ => Ok(None),
    }
}

/// A field by its name in JSON, and what it holds: of scalars the last, of lists and maps nothing. `None`: there is no such
/// field.
fn singular<'a>(
    of: &'static Message,
    message: &'a [u8],
    name: &str,
) -> Result<Option<(Option<Payload<'a>>, &'static Field)>, GivenUp> {
    let Some((_, field, route)) = of.member(name) else { return Ok(None) };
    if matches!(field.form, Form::List | Form::Map) {
        return Ok(Some((None, field)));
    }
    last(inlined(of, message, route)?, field).map(|payload| Some((payload, field)))
}

/// The message that the last step of a route is in; empty where it is not on the wire.
fn inlined<'a>(mut of: &'static Message, mut message: &'a [u8], route: [u8; 4]) -> Result<&'a [u8], GivenUp> {
    for step in route.windows(2).take_while(|steps| steps[1] != 0).map(|steps| steps[0]) {
        let field = &of.fields[usize::from(step) - 1];
        let (Type::Message(index), Some(payload)) = (field.of, last(message, field)?) else { return Ok(&[]) };
        (of, message) = (schema().message(index), payload.bytes()?);
    }
    Ok(message)
}

/// What a field that is no list holds. A message that is there in parts is left to the decoder.
fn last<'a>(message: &'a [u8], field: &Field) -> Result<Option<Payload<'a>>, GivenUp> {
    let mut found = None;
    let mut fields = Reader::new(message);
    while let Some(Record { number, payload }) = fields.next()? {
        if number == field.number {
            if found.is_some() && field.of.is_struct() {
                return Err(GivenUp);
            }
            found = Some(payload);
        }
    }
    Ok(found)
}

/// The value of a key.
fn last_entry<'a>(
    message: &'a [u8],
    of: &'static Message,
    name: &str,
    value: Type,
    key: &str,
) -> Result<Option<Payload<'a>>, GivenUp> {
    let Some((_, field, route)) = of.member(name) else { return Ok(None) };
    let mut found = None;
    let mut fields = Reader::new(inlined(of, message, route)?);
    while let Some(record) = fields.next()? {
        if record.number == field.number {
            let entry = Entry::read(&record.payload, value)?;
            if go_text(entry.key) == key {
                found = Some(entry.value);
            }
        }
    }
    Ok(found)
}

/// The text of a field at the end of a path, as JSON would have it.
fn leaf<'a>(field: &Field, payload: Option<Payload<'a>>, path: FieldPath<'_>) -> Answer<'a> {
    let Some(payload) = payload else {
        if field.form != Form::Value || (field.omit_empty && !field.of.is_struct()) {
            return Ok(None);
        }
        return match field.of {
            Type::Bytes | Type::Texts => Ok(None),
            Type::Bool | Type::Int32 | Type::Int64 => text(field.of, &Payload::Varint(0), path),
            Type::Double => text(field.of, &Payload::Fixed64(0), path),
            _ => text(field.of, &Payload::EMPTY, path),
        };
    };
    if field.form == Form::Value && field.omit_empty && is_zero(field.of, &payload)? {
        return Ok(None);
    }
    text(field.of, &payload, path)
}

/// Whether omitempty leaves a value out.
fn is_zero(of: Type, payload: &Payload<'_>) -> Result<bool, GivenUp> {
    Ok(match of {
        Type::Text | Type::Bytes => payload.bytes()?.is_empty(),
        Type::Bool | Type::Int32 | Type::Int64 => payload.varint()? == 0,
        Type::Double => payload.double()? == 0.0,
        _ => false,
    })
}

/// The text of a scalar as selectors see it.
fn text<'a>(of: Type, payload: &Payload<'a>, path: FieldPath<'_>) -> Answer<'a> {
    let scalar = match of {
        Type::Text => return Ok(Some(go_text(payload.bytes()?))),
        Type::Bytes => return Ok(Some(Cow::Owned(STANDARD.encode(payload.bytes()?)))),
        Type::Bool => Value::Bool(payload.varint()? != 0),
        Type::Int32 => Value::Integer(payload.int32()?.into()),
        Type::Int64 => Value::Integer(payload.int64()?),
        Type::Double => Value::Float(payload.double()?),
        Type::Quantity => return quantity(payload),
        Type::Duration => {
            let nanos = part(payload, 1)?.map_or(Ok(0), |nanos| nanos.int64())?;
            return Ok(Some(duration::format(nanos)));
        }
        Type::Time | Type::MicroTime => return time(payload, of == Type::MicroTime),
        Type::IntOrString => match part(payload, 1)?.map_or(Ok(0), |of| of.int64())? {
            0 => Value::Integer(
                part(payload, 2)?.map_or(Ok(0), |number| number.varint().map(low_half))?.into(),
            ),
            1 => {
                return Ok(Some(
                    part(payload, 3)?.map_or(Ok(Cow::Borrowed("")), |text| text.bytes().map(go_text))?,
                ));
            }
            _ => return Err(GivenUp),
        },
        Type::Message(_) | Type::Texts => return Ok(None),
        Type::RawExtension
        | Type::Json
        | Type::SchemaOrBool(_)
        | Type::SchemaOrArray(_)
        | Type::SchemaOrTexts(_) => {
            return Err(GivenUp);
        }
    };
    Ok(field_text(&scalar, path).map(|text| Cow::Owned(text.into_owned())))
}

fn quantity<'a>(payload: &Payload<'a>) -> Answer<'a> {
    let Some(text) = part(payload, 1)? else { return Ok(Some(Cow::Borrowed("0"))) };
    let text = std::str::from_utf8(text.bytes()?).ok().and_then(quantity::canonical);
    text.map(Some).ok_or(GivenUp)
}

fn time<'a>(payload: &Payload<'a>, precise: bool) -> Answer<'a> {
    let moment = Moment::read(payload, precise)?;
    if moment.is_none() {
        return Ok(None);
    }
    let mut buffer = [0; 27];
    let text = moment.format(precise, &mut buffer).ok_or(GivenUp)?;
    Ok(Some(Cow::Owned(text.to_owned())))
}

/// The last field of a number in a small message.
fn part<'a>(payload: &Payload<'a>, number: u32) -> Result<Option<Payload<'a>>, GivenUp> {
    let mut found = None;
    let mut fields = Reader::new(payload.bytes()?);
    while let Some(record) = fields.next()? {
        if record.number == number {
            found = Some(record.payload);
        }
    }
    Ok(found)
}
