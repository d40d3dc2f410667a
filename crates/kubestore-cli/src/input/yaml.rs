//! YAML, several documents in a text.

use kubestore::codec::Value;
use serde_saphyr::{Error, Options};

use super::document::Malformed;

/// One document of a text.
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// The line of the whole text that it begins in, from 1.
    pub(super) line: usize,
}

impl Part<'_> {
    /// The line of the whole text that its content begins in.
    pub(super) fn first_line(&self) -> usize {
        let is_blank = |line: &&str| {
            let line = line.trim();
            line.is_empty() || line.starts_with('#') || line == "---"
        };
        self.line + self.text.lines().take_while(is_blank).count()
    }
}

/// The text, cut at the lines that begin a document. Such a line cannot be anything else, wherever it stands.
pub(super) fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = Some((text, 1));
    std::iter::from_fn(move || {
        let (text, line) = rest?;
        let mut end = 0;
        for (lines, next) in text.split_inclusive('\n').enumerate() {
            if end > 0 && begins_document(next) {
                rest = Some((&text[end..], line + lines));
                return Some(Part { text: &text[..end], line });
            }
            end += next.len();
        }
        rest = None;
        Some(Part { text, line })
    })
}

fn begins_document(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// The value of one document; null if it is empty.
pub(super) fn value(text: &str) -> Result<Value, Malformed> {
    let values: Vec<Value> =
        serde_saphyr::from_multiple_with_options(text, options()).map_err(|error| malformed(&error, text))?;
    match <[Value; 1]>::try_from(values) {
        Ok([value]) => Ok(value),
        Err(values) if values.is_empty() => Ok(Value::Null),
        Err(_) => Err(Malformed { line: 1, message: "begin each document with a line of ---".to_owned() }),
    }
}

/// As kubectl reads YAML: `0644` is octal, `yes` is true, and the file may be as large as it likes.
fn options() -> Options {
    serde_saphyr::options! {
        budget: None,
        legacy_octal_numbers: true,
        null_as_string: true,
        with_snippet: false,
    }
}

/// The parser's own words may quote the file, which may hold secrets.
fn malformed(error: &Error, text: &str) -> Malformed {
    let error = error.without_snippet();
    let last = text.lines().count().max(1);
    let line = error.location().map_or(last, |at| usize::try_from(at.line()).unwrap_or(last));
    let message = match error {
        Error::DuplicateMappingKey { .. } => "a field is there twice; remove one".to_owned(),
        Error::UnknownAnchor { .. } => "an alias has no anchor; write the value out".to_owned(),
        Error::Eof { .. } => "the text ends too early".to_owned(),
        Error::NonFiniteFloat { .. } => "a number is not finite; put it in quotes if it is text".to_owned(),
        _ => "check indentation, colons and quotes".to_owned(),
    };
    Malformed { line: line.clamp(1, last), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        let value = value(text).unwrap_or_else(|error| panic!("{}: {}", error.line, error.message));
        serde_json::to_string(&value).unwrap()
    }

    #[test]
    fn scalars_are_read_as_kubectl_reads_them() {
        for (yaml, wanted) in [
            ("a: 0644", r#"{"a":420}"#),
            ("a: 0o17", r#"{"a":15}"#),
            ("a: 0x1F", r#"{"a":31}"#),
            ("a: yes", r#"{"a":true}"#),
            ("a: off", r#"{"a":false}"#),
            ("a: '1'", r#"{"a":"1"}"#),
            ("a: 1.50", r#"{"a":1.5}"#),
            ("a: ~", r#"{"a":null}"#),
            ("a:", r#"{"a":null}"#),
            ("a: 2024-01-01", r#"{"a":"2024-01-01"}"#),
            ("a: 12:30:45", r#"{"a":"12:30:45"}"#),
            ("a: 100Mi", r#"{"a":"100Mi"}"#),
            ("1: a\ntrue: b\nnull: c", r#"{"1":"a","null":"c","true":"b"}"#),
            ("y: 1\nn: 2", r#"{"n":2,"y":1}"#),
            ("a: &x {b: 1}\nc: *x", r#"{"a":{"b":1},"c":{"b":1}}"#),
            ("a: &x {b: 1}\nc: {<<: *x, d: 2}", r#"{"a":{"b":1},"c":{"b":1,"d":2}}"#),
            ("a: |\n  x\n  y\n", r#"{"a":"x\ny\n"}"#),
            ("a: >-\n  x\n  y\n", r#"{"a":"x y"}"#),
            ("# only a comment", "null"),
            ("---\n# only a comment", "null"),
            ("", "null"),
        ] {
            assert_eq!(json(yaml), wanted, "{yaml}");
        }
    }

    #[test]
    fn a_text_is_cut_where_documents_begin() {
        let text = "# first\na: 1\n---\n\nb: |\n  x\n  ---\n--- # third\nc: 3\n---\n";
        let found: Vec<_> = parts(text).map(|part| (part.line, part.first_line(), json(part.text))).collect();
        let wanted =
            [(1, 2, r#"{"a":1}"#), (3, 5, r#"{"b":"x\n---\n"}"#), (8, 8, r#"{"c":3}"#), (10, 11, "null")];
        let wanted: Vec<_> = wanted.map(|(line, first, json)| (line, first, json.to_owned())).into();
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_malformed_is_placed_and_not_quoted() {
        for (yaml, line) in [
            ("a: 1\nb: [1, 2\nc: 3\n", 3),
            ("a: 1\n b: hunter2\n", 2),
            ("a: 1\na: hunter2\n", 2),
            ("a: *hunter2\n", 1),
            ("a: 'hunter2\n", 1),
            ("a: .inf\n", 1),
            ("a:\n\tb: 1\n", 2),
        ] {
            let error = value(yaml).err().unwrap_or_else(|| panic!("{yaml} was read"));
            assert_eq!(error.line, line, "{yaml}: {}", error.message);
            assert!(!error.message.contains("hunter2"), "{}", error.message);
        }
    }
}
