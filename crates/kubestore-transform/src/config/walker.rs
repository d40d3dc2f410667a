//! Going down a document and noting what is wrong.

use super::{ConfigProblem, node::Node};

/// Collects problems, so that one reading shows them all.
#[derive(Default)]
pub(super) struct Walker {
    pub(super) problems: Vec<ConfigProblem>,
}

/// The fields of an object, by the order in which they were asked for.
pub(super) type Fields<'a, const N: usize> = [&'a Node; N];

static ABSENT: Node = Node::Null;

impl Walker {
    pub(super) fn report(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(ConfigProblem { path: path.to_owned(), message: message.into() });
    }

    /// The fields named `names`; one that is absent is [`Node::Null`]. Others are reported.
    pub(super) fn fields<'a, const N: usize>(
        &mut self,
        node: &'a Node,
        path: &str,
        names: [&str; N],
    ) -> Fields<'a, N> {
        let mut fields = [&ABSENT; N];
        let Node::Object(entries) = node else {
            if !matches!(node, Node::Null) {
                self.wrong_type(node, path, "an object");
            }
            return fields;
        };
        for (name, value) in entries {
            match names.iter().position(|known| known == name) {
                Some(at) => fields[at] = value,
                None => self.report(path, format!("{}; known here: {}", unknown(name), names.join(", "))),
            }
        }
        fields
    }

    /// The elements of a list; nothing is an empty list.
    pub(super) fn list<'a>(&mut self, node: &'a Node, path: &str) -> &'a [Node] {
        match node {
            Node::List(elements) => elements,
            Node::Null => &[],
            _ => {
                self.wrong_type(node, path, "a list");
                &[]
            }
        }
    }

    /// A string; nothing is an empty one. `None` if something else was reported.
    pub(super) fn text<'a>(&mut self, node: &'a Node, path: &str) -> Option<&'a str> {
        match node {
            Node::Text(text) => Some(text),
            Node::Null => Some(""),
            _ => {
                self.wrong_type(node, path, "a string");
                None
            }
        }
    }

    fn wrong_type(&mut self, node: &Node, path: &str, wanted: &str) {
        let hint =
            if matches!(node, Node::Other(_)) { "; put it in quotes if it is meant as text" } else { "" };
        self.report(path, format!("is {}, must be {wanted}{hint}", node.describe()));
    }
}

/// A field that does not look like one may be a secret in the wrong place.
fn unknown(name: &str) -> String {
    const LONGEST: usize = 20;
    let harmless =
        name.len() <= LONGEST && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if harmless { format!("unknown field {name:?}") } else { "unknown field".to_owned() }
}
