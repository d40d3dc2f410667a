//! From values to CBOR.

use std::{slice, vec};

use ciborium_ll::Header;

use super::{
    error::CborError,
    header::{NULL, write_bool, write_header, write_integer, write_text},
    reader::MAX_MEMBERS,
};
use crate::value::{MAX_DEPTH, Map, Value};

/// Appends an object as Kubernetes writes it: members in the order of their encoded names, everything in its shortest form.
/// No recursion.
pub(super) fn write_map(out: &mut Vec<u8>, map: &Map) -> Result<(), CborError> {
    let mut levels = vec![begin_map(out, map)?];
    while let Some(level) = levels.last_mut() {
        let value = match level {
            Level::Array(values) => values.next(),
            Level::Map(members) => members.next().map(|(key, value)| {
                write_text(out, key);
                value
            }),
        };
        match value {
            None => {
                levels.pop();
            }
            Some(Value::Array(_) | Value::Object(_)) if levels.len() == MAX_DEPTH => {
                return Err(CborError::without_offset(format!("nested deeper than {MAX_DEPTH} levels")));
            }
            Some(Value::Array(array)) => {
                write_header(out, Header::Array(Some(array.len())));
                levels.push(Level::Array(array.iter()));
            }
            Some(Value::Object(map)) => {
                let level = begin_map(out, map)?;
                levels.push(level);
            }
            Some(scalar) => write_scalar(out, scalar)?,
        }
    }
    Ok(())
}

/// What is left of a container.
enum Level<'a> {
    Array(slice::Iter<'a, Value>),
    Map(vec::IntoIter<(&'a str, &'a Value)>),
}

fn begin_map<'a>(out: &mut Vec<u8>, map: &'a Map) -> Result<Level<'a>, CborError> {
    if map.len() > MAX_MEMBERS {
        return Err(CborError::without_offset(format!("more than {MAX_MEMBERS} members")));
    }
    let mut members: Vec<_> = map.iter().collect();
    // The length comes first in the encoded name. The sort is stable, and names of one length are in order already.
    members.sort_by_key(|(key, _)| key.len());
    write_header(out, Header::Map(Some(members.len())));
    Ok(Level::Map(members.into_iter()))
}

fn write_scalar(out: &mut Vec<u8>, scalar: &Value) -> Result<(), CborError> {
    match scalar {
        Value::Bool(value) => write_bool(out, *value),
        Value::Integer(number) => write_integer(out, *number),
        Value::Float(number) if number.is_finite() => write_header(out, Header::Float(*number)),
        Value::Float(_) => return Err(CborError::without_offset("a float that is not a finite number")),
        Value::String(text) => write_text(out, text),
        Value::Null | Value::Array(_) | Value::Object(_) => out.push(NULL),
    }
    Ok(())
}
