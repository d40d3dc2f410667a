//! What can be wrong with protobuf.

use std::{borrow::Cow, error::Error, fmt};

use kubestore_core::{CodecError, quote};
use serde::{de, ser};

/// Why bytes are not an object of Kubernetes in protobuf, or why an object cannot be written as such.
///
/// `Display` says what is wrong and in which field, by its path in JSON. It never shows a value.
pub struct ProtobufError(Box<Inner>);

struct Inner {
    problem: Problem,
    /// From the innermost segment outwards.
    path: Vec<Segment>,
    /// An address within the value that is read, then an offset in it.
    at: Option<At>,
}

#[derive(Clone, Copy)]
enum At {
    Address(usize),
    Offset(usize),
}

/// The classes of [`ProtobufError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtobufErrorKind {
    /// The value does not begin as protobuf of Kubernetes does.
    NotProtobuf,
    /// The value ends too early.
    Truncated,
    /// The bytes are not what they should be: a wrong wire type, a field number of 0, a quantity that is none.
    Malformed,
    /// Kind or apiVersion are missing, or are not of their form.
    NoType,
    /// A kind that is not among those of Kubernetes.
    UnknownKind,
    /// An object that is to be written has a field that its kind does not have.
    UnknownField,
    /// A value is not of the type of its field, or of the Rust type that is read.
    WrongType,
    /// Nested too deep.
    TooDeep,
    /// A stored object has something that a rewrite would lose.
    WouldBeLost,
}

/// Where something is in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Field(Cow<'static, str>),
    Index(usize),
    Key(String),
}

/// What is wrong.
#[derive(Debug)]
pub(super) enum Problem {
    NotEnvelope,
    EmptyBody,
    Truncated,
    LongVarint,
    BadFieldNumber,
    BadWireType {
        number: u32,
    },
    Group {
        number: u32,
    },
    WrongWireType {
        found: u8,
        expected: u8,
    },
    NoKind {
        api_version: String,
    },
    NoApiVersion {
        kind: String,
    },
    BadApiVersion {
        api_version: String,
        kind: String,
    },
    UnknownKind {
        api_version: String,
        kind: String,
    },
    OtherType {
        expected: String,
    },
    Invalid(&'static str),
    NotJson,
    TooDeep,
    UnknownField,
    Duplicate,
    /// What a type of serde expects. Only words of the type.
    Expected(String),
    Missing(&'static str),
    NotTaken,
    WouldLoseField {
        number: u32,
    },
    WouldLoseText,
}

impl ProtobufError {
    #[cold]
    pub(super) fn new(problem: Problem) -> Self {
        Self(Box::new(Inner { problem, path: Vec::new(), at: None }))
    }

    /// Something wrong where `rest` begins.
    #[cold]
    pub(super) fn at(problem: Problem, rest: &[u8]) -> Self {
        Self(Box::new(Inner { problem, path: Vec::new(), at: Some(At::Address(rest.as_ptr().addr())) }))
    }

    /// Says that it happened inside of something.
    #[cold]
    pub(super) fn inside(mut self, segment: Segment) -> Self {
        self.0.path.push(segment);
        self
    }

    #[cold]
    pub(super) fn in_field(self, name: &'static str) -> Self {
        self.inside(Segment::Field(Cow::Borrowed(name)))
    }

    /// Says in which value it happened.
    #[cold]
    pub(super) fn in_value(mut self, value: &[u8]) -> Self {
        if let Some(At::Address(address)) = self.0.at {
            let offset = address.checked_sub(value.as_ptr().addr()).filter(|offset| *offset <= value.len());
            self.0.at = offset.map(At::Offset);
        }
        self
    }

    /// What class of error it is.
    #[must_use]
    pub fn kind(&self) -> ProtobufErrorKind {
        match &self.0.problem {
            Problem::NotEnvelope => ProtobufErrorKind::NotProtobuf,
            Problem::EmptyBody | Problem::Truncated => ProtobufErrorKind::Truncated,
            Problem::NoKind { .. }
            | Problem::NoApiVersion { .. }
            | Problem::BadApiVersion { .. }
            | Problem::OtherType { .. } => ProtobufErrorKind::NoType,
            Problem::UnknownKind { .. } => ProtobufErrorKind::UnknownKind,
            Problem::UnknownField => ProtobufErrorKind::UnknownField,
            Problem::TooDeep => ProtobufErrorKind::TooDeep,
            Problem::WouldLoseField { .. } | Problem::WouldLoseText => ProtobufErrorKind::WouldBeLost,
            Problem::Duplicate | Problem::Expected(_) | Problem::Missing(_) | Problem::NotTaken => {
                ProtobufErrorKind::WrongType
            }
            _ => ProtobufErrorKind::Malformed,
        }
    }

    /// The field, as `spec.containers[0].image`; "" where the object as a whole is meant.
    #[must_use]
    pub fn path(&self) -> String {
        path_text(self.0.path.iter().rev())
    }

    /// How many bytes of the stored value come before the place, where there is one.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        match self.0.at {
            Some(At::Offset(offset)) => Some(offset),
            _ => None,
        }
    }
}

/// Segments in order as one text.
pub(super) fn path_text<'a>(segments: impl Iterator<Item = &'a Segment>) -> String {
    let mut out = String::new();
    for segment in segments {
        match segment {
            Segment::Field(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(name);
            }
            Segment::Index(index) => out.push_str(&format!("[{index}]")),
            Segment::Key(key) => out.push_str(&format!("[{}]", quote(key))),
        }
    }
    out
}

impl fmt::Display for ProtobufError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.problem {
            Problem::NotEnvelope => f.write_str(
                "the value is not protobuf of Kubernetes, which begins with `k8s` and a zero byte",
            )?,
            Problem::EmptyBody => {
                f.write_str("nothing follows the first four bytes of the protobuf value")?
            }
            Problem::Truncated => f.write_str("the protobuf value ends too early")?,
            Problem::LongVarint => f.write_str("a number of more than 64 bits")?,
            Problem::BadFieldNumber => f.write_str("a field number that there cannot be")?,
            Problem::BadWireType { number } => {
                write!(f, "field number {number} has a wire type that there is not")?
            }
            Problem::Group { number } => {
                write!(f, "field number {number} is a group, which Kubernetes does not use")?
            }
            Problem::WrongWireType { found, expected } => {
                write!(f, "wire type {found} instead of {expected}")?
            }
            Problem::NoKind { .. } => f.write_str("the object has no kind")?,
            Problem::NoApiVersion { .. } => f.write_str("the object has no apiVersion")?,
            Problem::BadApiVersion { .. } => {
                f.write_str("the object's apiVersion is not of the form group/version")?
            }
            Problem::UnknownKind { api_version, kind } => write!(
                f,
                "{} {} is not a kind of Kubernetes that is known here; custom resources are written as JSON",
                quote(api_version),
                quote(kind)
            )?,
            Problem::OtherType { expected } => write!(f, "the object is not {expected}")?,
            Problem::Invalid(what) => f.write_str(what)?,
            Problem::NotJson => f.write_str("what should be JSON is not")?,
            Problem::TooDeep => write!(f, "nested deeper than {} messages", super::MAX_MESSAGES)?,
            Problem::UnknownField => f.write_str("a field that this kind does not have")?,
            Problem::Duplicate => f.write_str("a field that is there twice")?,
            Problem::Expected(what) => write!(f, "expected {what}")?,
            Problem::Missing(field) => write!(f, "the field {field} is missing")?,
            Problem::NotTaken => f.write_str("not what the type takes")?,
            Problem::WouldLoseField { number } => {
                write!(
                    f,
                    "the stored object has a field number {number}, not known here, which would be lost"
                )?;
            }
            Problem::WouldLoseText => {
                f.write_str("the stored object has text that is not UTF-8, which would be lost")?;
            }
        }
        if !self.0.path.is_empty() {
            write!(f, " in {}", self.path())?;
        }
        if let Some(At::Offset(offset)) = self.0.at {
            write!(f, " at byte {offset}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for ProtobufError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProtobufError({self})")
    }
}

impl Error for ProtobufError {}

impl ProtobufError {
    /// What Kubernetes says in this case, where it says the same of the same bytes.
    fn status_message(&self) -> Option<String> {
        Some(match &self.0.problem {
            Problem::EmptyBody => "empty body".to_owned(),
            Problem::Truncated => "unexpected EOF".to_owned(),
            Problem::NoKind { api_version } => missing("Kind", api_version, ""),
            Problem::NoApiVersion { kind } => missing("apiVersion", "", kind),
            Problem::BadApiVersion { api_version, kind } => missing("apiVersion", api_version, kind),
            Problem::UnknownKind { api_version, kind } => {
                format!("no kind {kind:?} is registered for version {api_version:?}")
            }
            _ => return None,
        })
    }
}

fn missing(what: &str, api_version: &str, kind: &str) -> String {
    format!("Object '{what}' is missing in 'runtime.TypeMeta{{APIVersion:{api_version:?}, Kind:{kind:?}}}'")
}

/// An error about a stored value.
impl From<ProtobufError> for CodecError {
    fn from(error: ProtobufError) -> Self {
        let status = error.status_message();
        let refused = Self::new("the value cannot be read as protobuf").with_source(error);
        match status {
            Some(status) => refused.with_status_message(status),
            None => refused,
        }
    }
}

/// Serde's errors may quote the value; what is kept is what the type expects.
impl de::Error for ProtobufError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::new(Problem::NotTaken)
    }

    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(Problem::Expected(expected.to_string()))
    }

    fn invalid_value(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(Problem::Expected(expected.to_string()))
    }

    fn invalid_length(_: usize, expected: &dyn de::Expected) -> Self {
        Self::new(Problem::Expected(expected.to_string()))
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self::new(Problem::NotTaken)
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::new(Problem::NotTaken)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Problem::Missing(field))
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self::new(Problem::Duplicate)
    }
}

impl ser::Error for ProtobufError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::new(Problem::NotTaken)
    }
}
