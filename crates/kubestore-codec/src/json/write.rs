//! From value to text.

use std::{borrow::Cow, error::Error, fmt};

use super::{number::write_float, scan::writable_run};
use crate::value::{MAX_DEPTH, Map, Step, Steps, Value};

/// A value that JSON has no form for, or that could not be read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwritable {
    TooDeep,
    NotFinite,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels"),
            Self::NotFinite => f.write_str("a float that is not a finite number"),
        }
    }
}

impl Error for Unwritable {}

/// Appends an object as Kubernetes writes it: no spaces, names in order, `<`, `>`, `&`, U+2028 and U+2029 escaped. No
/// newline at the end.
pub(crate) fn write_map(out: &mut Vec<u8>, map: &Map) -> Result<(), Unwritable> {
    out.push(b'{');
    write_steps(out, Steps::inside(map), vec![b'}'])
}

/// Appends any value in the same way.
#[cfg(feature = "protobuf")]
pub(crate) fn write_value(out: &mut Vec<u8>, value: &Value) -> Result<(), Unwritable> {
    write_steps(out, Steps::of(value), Vec::new())
}

/// `closing` are the ends of the containers that are open.
fn write_steps(out: &mut Vec<u8>, steps: Steps<'_>, mut closing: Vec<u8>) -> Result<(), Unwritable> {
    let mut comma = false;
    for step in steps {
        if comma && !matches!(step, Step::End) {
            out.push(b',');
        }
        comma = match step {
            Step::Array(_) | Step::Object(_) if closing.len() == MAX_DEPTH => {
                return Err(Unwritable::TooDeep);
            }
            Step::Array(_) => {
                out.push(b'[');
                closing.push(b']');
                false
            }
            Step::Object(_) => {
                out.push(b'{');
                closing.push(b'}');
                false
            }
            Step::Key(key) => {
                write_string(out, key);
                out.push(b':');
                false
            }
            Step::Scalar(scalar) => {
                write_scalar(out, scalar)?;
                true
            }
            Step::End => {
                out.extend(closing.pop());
                true
            }
        };
    }
    Ok(())
}

/// A scalar as text without quotes; `None` for `null`, arrays and objects.
pub(crate) fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Integer(_) | Value::Float(_) => {
            let mut out = Vec::new();
            write_scalar(&mut out, value).ok()?;
            String::from_utf8(out).ok().map(Cow::Owned)
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn write_scalar(out: &mut Vec<u8>, scalar: &Value) -> Result<(), Unwritable> {
    match scalar {
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Integer(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::Float(number) if number.is_finite() => write_float(out, *number),
        Value::Float(_) => return Err(Unwritable::NotFinite),
        Value::String(text) => write_string(out, text),
        Value::Null | Value::Array(_) | Value::Object(_) => out.extend_from_slice(b"null"),
    }
    Ok(())
}

pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, special) = rest.split_at(writable_run(rest));
        out.extend_from_slice(plain);
        let Some((first, after)) = special.split_first() else { break };
        rest = after;
        match first {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *first]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            0xE2 => match after {
                [0x80, last @ (0xA8 | 0xA9), after @ ..] => {
                    out.extend_from_slice(if *last == 0xA8 { b"\\u2028" } else { b"\\u2029" });
                    rest = after;
                }
                _ => out.push(0xE2),
            },
            byte => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.extend([byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]));
            }
        }
    }
    out.push(b'"');
}
