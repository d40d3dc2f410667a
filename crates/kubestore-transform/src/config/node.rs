//! A YAML or JSON document as a tree, read first and judged later: what a parser that knows the fields says of a wrong
//! value often quotes it, and it may be a secret.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use zeroize::Zeroizing;

use super::ConfigError;

/// A value of a document. It has no `Debug`, since it may be a secret.
pub(super) enum Node {
    Null,
    /// A boolean or a number, neither of which a configuration has.
    Other(&'static str),
    Text(Zeroizing<String>),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Node {
    /// Reads a document of YAML, and so of JSON; `None` if there is none.
    pub(super) fn parse(text: &str, name: &str) -> Result<Option<Self>, ConfigError> {
        let mut documents: Vec<Self> = serde_saphyr::from_multiple(text).map_err(|error| {
            let place = error
                .location()
                .map_or_else(String::new, |at| format!(" at line {}, column {}", at.line(), at.column()));
            ConfigError::whole(name, format!("{}{place}", what_is_wrong(&error)))
        })?;
        documents.retain(|document| !matches!(document, Self::Null));
        if documents.len() > 1 {
            // The reference reads the first and says nothing of the others.
            return Err(ConfigError::whole(name, "has several documents; keep one"));
        }
        Ok(documents.pop())
    }

    /// What it is, without its content.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Other(what) => what,
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// The parser's own words may quote the file.
fn what_is_wrong(error: &serde_saphyr::Error) -> &'static str {
    use serde_saphyr::Error;
    match error.without_snippet() {
        Error::DuplicateMappingKey { .. } => "a field is there twice; remove one",
        Error::UnknownAnchor { .. } => "an alias has no anchor; write the value out",
        Error::Eof { .. } => "the file ends too early",
        _ => "not valid YAML or JSON; check indentation and quotes",
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Other("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_i128<E>(self, _: i128) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(Zeroizing::new(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Node, E> {
        Ok(Node::Text(Zeroizing::new(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Node, A::Error> {
        let mut object = Vec::new();
        while let Some(field) = fields.next_entry()? {
            object.push(field);
        }
        Ok(Node::Object(object))
    }
}
