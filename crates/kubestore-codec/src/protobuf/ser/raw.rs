//! JSON inside of protobuf.

use serde::Serialize;

use crate::{
    Value,
    json::{canonical, write_value},
    protobuf::error::{Problem, ProtobufError},
};

/// Any value as JSON, in the form in which Kubernetes keeps it. `None` for null.
pub(super) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Option<Vec<u8>>, ProtobufError> {
    // The text of an error of serde may quote the value.
    let text = serde_json::to_string(value).map_err(|_| ProtobufError::new(Problem::NotJson))?;
    if text == "null" {
        return Ok(None);
    }
    let mut out = Vec::new();
    if text.starts_with('{') {
        out = canonical(&text, &[]).map_err(|_| ProtobufError::new(Problem::NotJson))?;
        // The newline of a document.
        out.pop();
    } else {
        let value: Value = serde_json::from_str(&text).map_err(|_| ProtobufError::new(Problem::NotJson))?;
        write_value(&mut out, &value).map_err(|_| ProtobufError::new(Problem::NotJson))?;
    }
    Ok(Some(out))
}
