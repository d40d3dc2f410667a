//! What a predicate asks of an object, and the answers.

use std::borrow::Cow;

/// The label keys and field paths that one predicate looks at, in slots.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Label keys.
    pub labels: Vec<String>,
    /// Field paths such as `metadata.name` or `spec.nodeName`.
    pub fields: Vec<String>,
}

impl Wanted {
    /// These labels and fields.
    #[must_use]
    pub fn new(labels: Vec<String>, fields: Vec<String>) -> Self {
        Self { labels, fields }
    }

    /// As many empty answers as there are slots.
    #[must_use]
    pub fn nothing_found<'a>(&self) -> Found<'a> {
        Found { labels: vec![None; self.labels.len()], fields: vec![None; self.fields.len()] }
    }
}

/// The answers to [`Wanted`], slot by slot, borrowed from the encoded bytes or from the object.
///
/// `None`: the object does not have it. An absent field counts as the empty text.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found<'a> {
    /// Values of labels.
    pub labels: Vec<Option<Cow<'a, str>>>,
    /// Values of fields.
    pub fields: Vec<Option<Cow<'a, str>>>,
}
