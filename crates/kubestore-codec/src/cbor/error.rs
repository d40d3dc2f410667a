//! What can be wrong with CBOR.

use std::{borrow::Cow, error::Error, fmt};

use kubestore_core::CodecError;
use serde::{
    de::{self, Expected, Unexpected},
    ser,
};

/// Bytes that are not CBOR as Kubernetes reads it, or do not have the form of a type; or an object that has no such form.
///
/// `Display` says what is wrong and at which byte, and shows no content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CborError(Box<Inner>);

/// Boxed, since the results of every step carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    what: Cow<'static, str>,
    at: Option<usize>,
}

impl CborError {
    #[cold]
    pub(super) fn new(what: impl Into<Cow<'static, str>>, at: usize) -> Self {
        Self(Box::new(Inner { what: what.into(), at: Some(at) }))
    }

    /// Of something that has no place among bytes.
    #[cold]
    pub(super) fn without_offset(what: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner { what: what.into(), at: None }))
    }

    /// The same error, at `at` unless it says a place itself.
    pub(super) fn or_at(mut self, at: usize) -> Self {
        self.0.at.get_or_insert(at);
        self
    }

    /// At which byte of the value something is wrong; `None` for an object that cannot be written.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.0.at
    }

    pub(super) fn refused_by_reader(self) -> CodecError {
        CodecError::new("the value is not CBOR as Kubernetes reads it").with_source(self)
    }

    pub(super) fn refused_by_type(self) -> CodecError {
        CodecError::new("the value does not have the form of its type").with_source(self)
    }

    pub(super) fn refused_by_writer(self) -> CodecError {
        CodecError::new("the object cannot be written as CBOR").with_source(self)
    }
}

impl fmt::Display for CborError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)?;
        match self.0.at {
            Some(at) => write!(f, " at byte {at}"),
            None => Ok(()),
        }
    }
}

impl Error for CborError {}

/// The texts that serde offers quote what was found, which may be a secret. Only what the type expects is kept.
impl de::Error for CborError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::without_offset("not what the type takes")
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::without_offset(format!("expected {expected}"))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::without_offset(format!("another length than expected, {expected}"))
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self::without_offset("a variant that the type does not have")
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::without_offset("a field that the type does not have")
    }

    fn missing_field(field: &'static str) -> Self {
        Self::without_offset(format!("missing field `{field}`"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::without_offset(format!("duplicate field `{field}`"))
    }
}

/// The text of an object that refuses to be serialised may quote it.
impl ser::Error for CborError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::without_offset("the object refuses to be serialised")
    }
}
