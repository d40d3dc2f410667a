//! A message before its length is known: what is in it, in the order in which it comes.

use crate::protobuf::{
    release::Release,
    schema::{Form, Message, Type, schema},
    wire::{varint_len, write_varint},
};

/// The values of a message. Texts are copied into it once and out of it once.
#[derive(Default)]
pub(super) struct Tree {
    release: Release,
    bytes: Vec<u8>,
    /// The fields of finished messages, those of one message one after the other.
    nodes: Vec<Node>,
    /// The members of unfinished messages.
    open: Vec<Node>,
    /// Where fields are put in order.
    scratch: Vec<Node>,
}

/// Where a field is in the message that its member belongs to in JSON: its place plus one, after those of the messages
/// that it is inlined in.
pub(super) type Route = [u8; 4];

/// A field of a message.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) route: Route,
    pub(super) number: u32,
    pub(super) body: Body,
}

#[derive(Clone, Copy)]
pub(super) enum Body {
    Varint(u64),
    Fixed64(u64),
    Bytes { start: usize, len: usize },
    Static(&'static [u8]),
    Message { first: usize, count: usize, size: usize },
}

impl Body {
    /// How many bytes it has without its tag.
    fn len(&self) -> usize {
        match *self {
            Self::Varint(value) => varint_len(value),
            Self::Fixed64(_) => 8,
            Self::Bytes { len, .. } | Self::Message { size: len, .. } => varint_len(len as u64) + len,
            Self::Static(bytes) => varint_len(bytes.len() as u64) + bytes.len(),
        }
    }

    fn wire_type(&self) -> u32 {
        match self {
            Self::Varint(_) => 0,
            Self::Fixed64(_) => 1,
            Self::Bytes { .. } | Self::Static(_) | Self::Message { .. } => 2,
        }
    }
}

impl Node {
    fn len(&self) -> usize {
        varint_len(u64::from(self.number << 3)) + self.body.len()
    }
}

impl Tree {
    /// For a message as this version writes it.
    pub(super) fn new(release: Release) -> Self {
        Self { release, ..Self::default() }
    }

    /// Keeps bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Body {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        Body::Bytes { start, len: bytes.len() }
    }

    /// Adds a member to the message that was begun last.
    pub(super) fn push(&mut self, route: Route, number: u32, body: Body) {
        self.open.push(Node { route, number, body });
    }

    /// The text of an open member.
    pub(super) fn text(&self, member: usize) -> String {
        match self.open.get(member).map(|node| node.body) {
            Some(Body::Bytes { start, len }) => {
                String::from_utf8_lossy(&self.bytes[start..start + len]).into_owned()
            }
            _ => String::new(),
        }
    }

    /// Where the members of the next message begin.
    pub(super) fn begin(&self) -> usize {
        self.open.len()
    }

    /// Ends a message whose members begin at `from`: puts them in order, and writes what is never left out.
    pub(super) fn end(&mut self, message: &'static Message, from: usize) -> Body {
        let members = &mut self.open[from..];
        if !members.is_sorted_by_key(|node| node.route) {
            members.sort_by_key(|node| node.route);
        }
        let body = self.close(message, 0, from, self.open.len());
        self.open.truncate(from);
        body
    }

    /// Ends a message that has its members as they are.
    pub(super) fn end_as_is(&mut self, from: usize) -> Body {
        let first = self.nodes.len();
        self.nodes.extend(self.open.drain(from..));
        self.message(first)
    }

    /// Puts the entries of a map, which begin at `from`, in order. Of several with one key the last stays.
    pub(super) fn sort_entries(&mut self, from: usize) {
        let Self { bytes, nodes, open, .. } = self;
        let key = |entry: &Node| -> &[u8] {
            let Body::Message { first, .. } = entry.body else { return &[] };
            match nodes.get(first).map(|node| node.body) {
                Some(Body::Bytes { start, len }) => &bytes[start..start + len],
                _ => &[],
            }
        };
        let entries = &mut open[from..];
        if entries.is_sorted_by(|a, b| key(a) < key(b)) {
            return;
        }
        entries.sort_by(|a, b| key(a).cmp(key(b)));
        let mut kept = from;
        for index in from..open.len() {
            if index + 1 == open.len() || key(&open[index]) != key(&open[index + 1]) {
                open[kept] = open[index];
                kept += 1;
            }
        }
        open.truncate(kept);
    }

    /// `level` is how many messages this one is inlined in; its members are open from `next` to `to`.
    fn close(&mut self, message: &'static Message, level: usize, mut next: usize, to: usize) -> Body {
        let start = self.scratch.len();
        for (place, field) in (1..).zip(&message.fields) {
            let is_here = |node: &&Node| node.route.get(level) == Some(&place);
            let end = next + self.open[next..to].iter().take_while(is_here).count();
            if end == next {
                let is_written = matches!(field.form, Form::Value | Form::Inline)
                    && !matches!(field.of, Type::Bytes | Type::Texts)
                    && self.release.has(field.since);
                if is_written {
                    let body = self.zero(field.of);
                    self.scratch.push(Node { route: [0; 4], number: field.number, body });
                }
            } else if let (Form::Inline, Type::Message(index)) = (field.form, field.of) {
                let body = self.close(schema().message(index), level + 1, next, end);
                self.scratch.push(Node { route: [0; 4], number: field.number, body });
            } else {
                self.scratch.extend_from_slice(&self.open[next..end]);
            }
            next = end;
        }
        let first = self.nodes.len();
        self.nodes.extend(self.scratch.drain(start..));
        self.message(first)
    }

    /// What is written for a value that is zero.
    pub(super) fn zero(&mut self, of: Type) -> Body {
        match of {
            Type::Bool | Type::Int32 | Type::Int64 => Body::Varint(0),
            Type::Double => Body::Fixed64(0),
            Type::Message(index) => match schema().zero(index, self.release) {
                Some(bytes) => Body::Static(bytes),
                None => self.close(schema().message(index), 0, 0, 0),
            },
            of => Body::Static(of.zero()),
        }
    }

    /// The message of the nodes from `first` on.
    fn message(&self, first: usize) -> Body {
        let fields = &self.nodes[first..];
        Body::Message { first, count: fields.len(), size: fields.iter().map(Node::len).sum() }
    }

    /// How many bytes the whole message has.
    pub(super) fn len(&self) -> usize {
        match self.open.last().map(|root| root.body) {
            Some(Body::Message { size, .. }) => size,
            _ => 0,
        }
    }

    /// Appends the whole message, which is the one member that is left.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if let Some(Body::Message { first, count, .. }) = self.open.last().map(|root| root.body) {
            self.write_fields(out, first, count);
        }
    }

    fn write_fields(&self, out: &mut Vec<u8>, first: usize, count: usize) {
        for node in &self.nodes[first..first + count] {
            write_varint(out, u64::from(node.number << 3 | node.body.wire_type()));
            match node.body {
                Body::Varint(value) => write_varint(out, value),
                Body::Fixed64(bits) => out.extend_from_slice(&bits.to_le_bytes()),
                Body::Bytes { start, len } => {
                    write_varint(out, len as u64);
                    out.extend_from_slice(&self.bytes[start..start + len]);
                }
                Body::Static(bytes) => {
                    write_varint(out, bytes.len() as u64);
                    out.extend_from_slice(bytes);
                }
                Body::Message { first, count, size } => {
                    write_varint(out, size as u64);
                    self.write_fields(out, first, count);
                }
            }
        }
    }
}
