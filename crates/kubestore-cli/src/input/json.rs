//! JSON, several documents one after the other.

use kubestore::codec::Value;

use super::document::Malformed;

/// The documents and the line that each begins in.
pub(super) fn documents(text: &str) -> Result<Vec<(usize, Value)>, Malformed> {
    let mut documents = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    loop {
        let start = stream.byte_offset();
        let Some(next) = stream.next() else { return Ok(documents) };
        let value = next.map_err(|error| Malformed { line: error.line(), message: what_is_wrong(&error) })?;
        let blank = text[start..].len() - text[start..].trim_start().len();
        documents.push((1 + newlines(&text[..start + blank]), value));
    }
}

/// The parser's words without its "at line 1 column 2".
fn what_is_wrong(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    format!("{} (column {})", text.strip_suffix(&place).unwrap_or(&text), error.column())
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}
