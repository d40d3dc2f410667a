//! What may be said of a serde error.

use std::{error::Error, fmt};

/// Why a document does not have the form of a type. Serde quotes what it found, which may be a secret; only its own words
/// are kept.
#[derive(Debug)]
pub(super) struct WrongForm {
    what: String,
    line: usize,
    column: usize,
}

impl WrongForm {
    pub(super) fn new(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
        let names_a_field =
            ["missing field `", "duplicate field `"].iter().any(|start| text.starts_with(start));
        let expectation = ["invalid type: ", "invalid value: ", "invalid length "]
            .iter()
            .any(|start| text.starts_with(start))
            .then(|| text.rsplit_once(", expected "))
            .flatten();
        let what = match expectation {
            _ if names_a_field => text.to_owned(),
            Some((_, expected)) => format!("expected {expected}"),
            None => "not what the type takes".to_owned(),
        };
        Self { what, line: error.line(), column: error.column() }
    }
}

impl fmt::Display for WrongForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.what, self.line, self.column)
    }
}

impl Error for WrongForm {}
