//! Field selectors: `metadata.name=a,spec.nodeName!=n1`.

use std::{fmt, str::FromStr};

use super::InvalidSelector;

/// Terms on fields, all of which must hold. Empty matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<FieldTerm>,
}

/// One comparison of a field with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTerm {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Everything matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The terms, in the order they were written.
    #[must_use]
    pub fn terms(&self) -> &[FieldTerm] {
        &self.terms
    }
}

impl FieldTerm {
    /// The field's path.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The text it is compared with.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// `=` rather than `!=`.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.equal
    }

    /// Whether a field with this value is wanted.
    #[must_use]
    pub fn matches(&self, value: &str) -> bool {
        (self.value == value) == self.equal
    }
}

/// `field=value`, `field==value` and `field!=value`, separated by commas. In a value `\\`, `\,` and `\=` stand for the
/// character itself.
impl FromStr for FieldSelector {
    type Err = InvalidSelector;

    fn from_str(text: &str) -> Result<Self, InvalidSelector> {
        let fail = |reason: String| InvalidSelector { selector: text.to_owned(), reason };
        let mut terms = Vec::new();
        for part in split_terms(text) {
            if part.is_empty() {
                continue;
            }
            let Some((field, equal, value)) = split_operator(part) else {
                return Err(fail(format!("{part:?} has no =, == or !=; write field=value")));
            };
            let value = unescape(value).map_err(fail)?;
            terms.push(FieldTerm { field: field.to_owned(), value, equal });
        }
        Ok(Self { terms })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, term) in self.terms.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let operator = if term.equal { "=" } else { "!=" };
            write!(f, "{comma}{}{operator}", term.field)?;
            for c in term.value.chars() {
                if matches!(c, '\\' | ',' | '=') {
                    f.write_str("\\")?;
                }
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

/// At commas that no backslash precedes.
fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |c| {
        let splits = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        splits
    })
}

/// At the first operator that no backslash precedes.
fn split_operator(term: &str) -> Option<(&str, bool, &str)> {
    let mut escaped = false;
    for (position, c) in term.char_indices() {
        if !escaped {
            for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
                if let Some(value) = term[position..].strip_prefix(operator) {
                    return Some((&term[..position], equal, value));
                }
            }
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

fn unescape(value: &str) -> Result<String, String> {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                _ => return Err(format!("in {value:?} a backslash stands before none of \\ , =")),
            },
            '=' => return Err(format!("in {value:?} write \\= for an equals sign")),
            _ => out.push(c),
        }
    }
    Ok(out)
}
