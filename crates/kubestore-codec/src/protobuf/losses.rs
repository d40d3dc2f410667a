//! What a stored object has that would be lost if it were decoded and written again.

use super::{
    MAX_MESSAGES,
    entry::Entry,
    envelope::Envelope,
    error::{Problem, ProtobufError, Segment, path_text},
    schema::{Field, Form, Message, MessageType, Type, schema},
    wire::{Payload, Reader},
};
use crate::json::go_text;

/// A field of a number that its message does not have: one of a later version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownField {
    /// The message that it is in, as `spec.containers[0]`; "" for the object itself.
    pub path: String,
    /// Its number.
    pub number: u32,
    /// Its wire type: 0 a number, 1 and 5 numbers of 64 and 32 bits, 2 bytes.
    pub wire_type: u8,
}

/// Every field of a stored object that is not known, in order.
///
/// ```
/// use kubestore_codec::protobuf::{Envelope, unknown_fields};
///
/// // A Lease whose spec has the field number 99.
/// let stored = Envelope::new("coordination.k8s.io/v1", "Lease", b"\x12\x03\x98\x06\x01").to_vec();
/// let unknown = unknown_fields(&stored)?;
/// assert_eq!((unknown[0].path.as_str(), unknown[0].number), ("spec", 99));
/// # Ok::<(), kubestore_codec::protobuf::ProtobufError>(())
/// ```
///
/// # Errors
/// The value is not an object of a kind of Kubernetes in protobuf.
pub fn unknown_fields(stored: &[u8]) -> Result<Vec<UnknownField>, ProtobufError> {
    let mut fields = Vec::new();
    walk(stored, |loss, path| {
        if let Loss::Field { number, wire_type } = loss {
            fields.push(UnknownField { path: path_text(path.to_segments().iter()), number, wire_type });
        }
        true
    })?;
    Ok(fields)
}

/// Whether there is any; quicker than [`unknown_fields`].
///
/// # Errors
/// The value is not an object of a kind of Kubernetes in protobuf.
pub fn has_unknown_fields(stored: &[u8]) -> Result<bool, ProtobufError> {
    let mut found = false;
    walk(stored, |loss, _| {
        found |= matches!(loss, Loss::Field { .. });
        !found
    })?;
    Ok(found)
}

/// Checks that a stored object may be replaced by what was read of it.
///
/// # Errors
/// The value is not an object of a kind of Kubernetes in protobuf. It has fields that are not known, or text that is not
/// UTF-8, which would be lost.
pub fn check_replaceable(stored: &[u8]) -> Result<(), ProtobufError> {
    let mut error = None;
    walk(stored, |loss, path| {
        let problem = match loss {
            Loss::Field { number, .. } => Problem::WouldLoseField { number },
            Loss::Text => Problem::WouldLoseText,
        };
        let segments = path.to_segments().into_iter().rev();
        error = Some(segments.fold(ProtobufError::new(problem), ProtobufError::inside));
        false
    })?;
    error.map_or(Ok(()), Err)
}

/// Something that would be lost.
#[derive(Clone, Copy)]
enum Loss {
    Field {
        number: u32,
        wire_type: u8,
    },
    /// Text that is not UTF-8.
    Text,
}

/// Where the walk is, from the innermost message outwards.
#[derive(Clone, Copy)]
struct Path<'p> {
    step: Option<Step<'p>>,
    outer: Option<&'p Self>,
    depth: u8,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Field(&'static str),
    Index(usize),
    Key(&'p [u8]),
}

impl<'p> Path<'p> {
    const ROOT: Self = Self { step: None, outer: None, depth: 0 };

    fn inside(&'p self, step: Step<'p>) -> Self {
        Self { step: Some(step), outer: Some(self), depth: self.depth }
    }

    fn to_segments(self) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut next = Some(self);
        while let Some(path) = next {
            segments.extend(path.step.map(|step| match step {
                Step::Field(name) => Segment::Field(name.into()),
                Step::Index(index) => Segment::Index(index),
                Step::Key(key) => Segment::Key(go_text(key).into_owned()),
            }));
            next = path.outer.copied();
        }
        segments.reverse();
        segments
    }
}

/// Tells `found` of everything that would be lost until it returns false.
fn walk(stored: &[u8], found: impl FnMut(Loss, Path<'_>) -> bool) -> Result<(), ProtobufError> {
    let mut walk = Walk { found };
    walk.object(stored, Path::ROOT).map(drop).map_err(|error| error.in_value(stored))
}

struct Walk<F> {
    found: F,
}

/// Whether to go on.
type GoOn = Result<bool, ProtobufError>;

impl<F: FnMut(Loss, Path<'_>) -> bool> Walk<F> {
    fn object(&mut self, stored: &[u8], path: Path<'_>) -> GoOn {
        let envelope = Envelope::parse(stored)?;
        envelope.check_type()?;
        let of = MessageType::known(envelope.api_version(), envelope.kind())?;
        self.message(of.message(), envelope.message(), path)
    }

    fn message(&mut self, message: &'static Message, bytes: &[u8], mut path: Path<'_>) -> GoOn {
        path.depth += 1;
        if path.depth > MAX_MESSAGES {
            return Err(ProtobufError::new(Problem::TooDeep));
        }
        let mut reader = Reader::new(bytes);
        // Which list is being read, and how much of it was.
        let (mut list, mut index) = (0, 0);
        while let Some(record) = reader.next()? {
            let Some((_, field)) = message.by_number(record.number) else {
                if !self.unknown(record.number, &record.payload, path) {
                    return Ok(false);
                }
                continue;
            };
            (list, index) = if list == field.number { (list, index + 1) } else { (field.number, 0) };
            let goes_on = self.field(field, &record.payload, index, path);
            if !goes_on.map_err(|error| {
                if field.form == Form::Inline { error } else { error.in_field(field.name) }
            })? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn unknown(&mut self, number: u32, payload: &Payload<'_>, path: Path<'_>) -> bool {
        (self.found)(Loss::Field { number, wire_type: payload.wire_type() }, path)
    }

    fn field(&mut self, field: &'static Field, payload: &Payload<'_>, index: usize, path: Path<'_>) -> GoOn {
        let here = path.inside(Step::Field(field.name));
        match field.form {
            Form::Value | Form::Pointer => self.value(field.of, payload, here),
            Form::Inline => self.value(field.of, payload, path),
            Form::List => match (field.of, payload) {
                // Packed.
                (Type::Bool | Type::Int32 | Type::Int64 | Type::Double, Payload::Bytes(_)) => Ok(true),
                _ => self.value(field.of, payload, here.inside(Step::Index(index))),
            },
            Form::Map => {
                let entry = Entry::read(payload, field.of)?;
                let here = here.inside(Step::Key(entry.key));
                Ok(self.text(entry.key, here)
                    && self.others(payload, &[1, 2], here)?
                    && self.value(field.of, &entry.value, here)?)
            }
        }
    }

    fn value(&mut self, of: Type, payload: &Payload<'_>, path: Path<'_>) -> GoOn {
        match of {
            Type::Text => Ok(self.text(payload.bytes()?, path)),
            Type::Bool | Type::Int32 | Type::Int64 => payload.varint().map(|_| true),
            Type::Double => payload.double().map(|_| true),
            Type::Bytes => payload.bytes().map(|_| true),
            Type::Message(index) => self.message(schema().message(index), payload.bytes()?, path),
            Type::Quantity | Type::Duration | Type::Json | Type::Time | Type::MicroTime => {
                self.parts(of, payload, [None, None, None], path)
            }
            Type::IntOrString => self.parts(of, payload, [None, None, Some(Type::Text)], path),
            Type::RawExtension => self.extension(payload, path),
            Type::Texts => self.parts(of, payload, [Some(Type::Text), None, None], path),
            Type::SchemaOrBool(index) => {
                self.parts(of, payload, [None, Some(Type::Message(index)), None], path)
            }
            Type::SchemaOrArray(index) => {
                let schema = Some(Type::Message(index));
                self.parts(of, payload, [schema, schema, None], path)
            }
            Type::SchemaOrTexts(index) => {
                self.parts(of, payload, [Some(Type::Message(index)), Some(Type::Text), None], path)
            }
        }
    }

    fn text(&mut self, text: &[u8], path: Path<'_>) -> bool {
        std::str::from_utf8(text).is_ok() || (self.found)(Loss::Text, path)
    }

    /// Looks for fields that are none of these.
    fn others(&mut self, payload: &Payload<'_>, known: &[u32], path: Path<'_>) -> GoOn {
        let mut reader = Reader::new(payload.bytes()?);
        while let Some(record) = reader.next()? {
            if !known.contains(&record.number) && !self.unknown(record.number, &record.payload, path) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The message of a special type, the parts of which may be looked into.
    fn parts(&mut self, of: Type, payload: &Payload<'_>, types: [Option<Type>; 3], path: Path<'_>) -> GoOn {
        let mut reader = Reader::new(payload.bytes()?);
        while let Some(record) = reader.next()? {
            let place = record.number as usize - 1;
            let goes_on = match (of.parts().get(place), types.get(place)) {
                (Some(_), Some(Some(of))) => self.value(*of, &record.payload, path)?,
                (Some(expected), _) => record.payload.check_type(*expected).map(|()| true)?,
                (None, _) => self.unknown(record.number, &record.payload, path),
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// JSON is kept as it is; an object in protobuf is looked into.
    fn extension(&mut self, payload: &Payload<'_>, mut path: Path<'_>) -> GoOn {
        path.depth += 1;
        if path.depth > MAX_MESSAGES {
            return Err(ProtobufError::new(Problem::TooDeep));
        }
        let mut reader = Reader::new(payload.bytes()?);
        while let Some(record) = reader.next()? {
            let goes_on = match (record.number, &record.payload) {
                (1, Payload::Bytes(raw)) if raw.starts_with(b"k8s\0") => self.object(raw, path)?,
                (1, _) => true,
                (number, payload) => self.unknown(number, payload, path),
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
