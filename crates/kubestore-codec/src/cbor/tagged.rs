//! Headers, and what the tags before them say.

use std::borrow::Cow;

use ciborium_ll::Header;

use super::{error::CborError, later::Later, time};

/// A header and what the tags before it say.
pub(super) struct Tagged {
    pub(super) header: Header,
    pub(super) start: usize,
    pub(super) later: Option<Later>,
    pub(super) time: Option<Time>,
    pub(super) more_tags: usize,
}

/// A tag that makes a time of what follows.
#[derive(Clone, Copy)]
pub(super) enum Time {
    Text,
    Number,
}

impl Time {
    pub(super) fn check(self, content: Header, at: usize) -> Result<(), CborError> {
        match (self, content) {
            (Self::Text, Header::Text(_))
            | (Self::Number, Header::Positive(_) | Header::Negative(_) | Header::Float(_)) => Ok(()),
            (Self::Text, _) => Err(CborError::new("a time (tag 0) that is not text", at)),
            (Self::Number, _) => Err(CborError::new("a time (tag 1) that is not a number", at)),
        }
    }
}

/// A header that is all in its first byte, but for simple values.
pub(super) fn short_header(byte: u8) -> Option<Header> {
    let (kind, number) = (byte >> 5, byte & 0x1f);
    if number > 23 {
        return None;
    }
    let length = Some(usize::from(number));
    match kind {
        0 => Some(Header::Positive(number.into())),
        1 => Some(Header::Negative(number.into())),
        2 => Some(Header::Bytes(length)),
        3 => Some(Header::Text(length)),
        4 => Some(Header::Array(length)),
        5 => Some(Header::Map(length)),
        6 => Some(Header::Tag(number.into())),
        _ => None,
    }
}

pub(super) fn integer(header: Header) -> Option<i64> {
    match header {
        Header::Positive(number) => i64::try_from(number).ok(),
        Header::Negative(number) => i64::try_from(number).ok().map(|number| !number),
        _ => None,
    }
}

pub(super) fn moment(text: Option<String>, at: usize) -> Result<Cow<'static, str>, CborError> {
    text.map(Cow::Owned).ok_or_else(|| CborError::new("a time outside of the years 0 to 9999", at))
}

pub(super) fn normal(text: Cow<'_, str>, at: usize) -> Result<Cow<'_, str>, CborError> {
    let wrong = || CborError::new("a time (tag 0) that is not one by RFC 3339", at);
    match text {
        Cow::Borrowed(text) => time::normal(text).ok_or_else(wrong),
        Cow::Owned(text) => Ok(Cow::Owned(time::normal(&text).ok_or_else(wrong)?.into_owned())),
    }
}

pub(super) fn refused(header: Header, at: usize) -> CborError {
    let what = match header {
        Header::Break => "a break outside of what it could end",
        _ => "a simple value other than false, true and null",
    };
    CborError::new(what, at)
}
