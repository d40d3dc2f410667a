//! Undoing what terminals and text tools do to bytes.

use std::borrow::Cow;

use super::Damage;
use crate::sniff::Encoding;

pub(super) struct Repaired<'a> {
    pub(super) value: Cow<'a, [u8]>,
    pub(super) has_line_feed: bool,
    pub(super) damage: Option<Damage>,
}

/// The value whose lengths add up, if one of the usual damages explains it.
pub(super) fn repair<'a>(value: Cow<'a, [u8]>, encoding: &Encoding) -> Repaired<'a> {
    let is_whole: fn(&[u8]) -> bool = match encoding {
        Encoding::Protobuf => is_whole_protobuf,
        #[cfg(feature = "cbor")]
        Encoding::Cbor => crate::cbor::is_whole,
        // White space does nothing to JSON, and nothing can be known of what is encrypted.
        _ => return Repaired { value, has_line_feed: false, damage: None },
    };
    if is_whole(&value) {
        return Repaired { value, has_line_feed: false, damage: None };
    }
    if value.strip_suffix(b"\n").is_some_and(is_whole) {
        return Repaired { value: without_last(value), has_line_feed: true, damage: None };
    }
    let undone = without_carriage_returns(&value);
    let damage = Some(Damage::LineEndings);
    if is_whole(&undone) {
        return Repaired { value: undone.into(), has_line_feed: false, damage };
    }
    if undone.strip_suffix(b"\n").is_some_and(is_whole) {
        return Repaired { value: without_last(undone.into()), has_line_feed: true, damage };
    }
    // The first field of an envelope begins with a line feed.
    if value.starts_with(b"k8s\0\r\n") {
        return Repaired { value: undone.into(), has_line_feed: false, damage };
    }
    let is_replaced = value.windows(3).any(|bytes| bytes == "\u{fffd}".as_bytes());
    let damage = Some(if is_replaced { Damage::Replaced } else { Damage::Inconsistent });
    Repaired { value, has_line_feed: false, damage }
}

fn without_last(value: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match value {
        Cow::Borrowed(value) => value.split_last().map_or(value, |(_, rest)| rest).into(),
        Cow::Owned(mut value) => {
            value.pop();
            value.into()
        }
    }
}

fn without_carriage_returns(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for (at, byte) in value.iter().enumerate() {
        if *byte != b'\r' || value.get(at + 1) != Some(&b'\n') {
            out.push(*byte);
        }
    }
    out
}

/// Whether the lengths of an envelope's fields add up to its own.
fn is_whole_protobuf(value: &[u8]) -> bool {
    let Some(mut rest) = value.strip_prefix(b"k8s\0") else { return false };
    while !rest.is_empty() {
        if field(&mut rest).is_none() {
            return false;
        }
    }
    true
}

/// Goes past a field.
fn field(rest: &mut &[u8]) -> Option<()> {
    let length = match varint(rest)? & 7 {
        0 => {
            varint(rest)?;
            0
        }
        1 => 8,
        2 => usize::try_from(varint(rest)?).ok()?,
        5 => 4,
        _ => return None,
    };
    *rest = rest.get(length..)?;
    Some(())
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
