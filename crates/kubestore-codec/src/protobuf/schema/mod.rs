//! What the kinds of Kubernetes are made of on the wire and in JSON.

mod parse;

use std::{fmt, sync::OnceLock};

use super::{
    error::{Problem, ProtobufError},
    release::Release,
};

/// The table is read at its first use, which takes about a millisecond.
pub(super) fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| parse::parse(include_str!("table.txt")))
}

/// Every kind and every message.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// In order.
    kinds: Vec<(&'static str, &'static str, u16)>,
    messages: Vec<Message>,
}

/// A message. A kind is one, too.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) name: &'static str,
    /// Whether it has `apiVersion` and `kind` in JSON, which are not on the wire.
    pub(super) is_object: bool,
    /// In order of their numbers.
    pub(super) fields: Box<[Field]>,
    /// One more than the place of a field, by its number; 0 for none.
    by_number: Box<[u8]>,
    /// In order; of inlined messages too.
    by_name: Box<[(&'static str, Place)]>,
    /// One more than the place of a name, where its hash or those after it say; 0 for none. At most half full.
    name_slots: Box<[u8]>,
    /// The fields that JSON shows even where the wire has nothing.
    pub(super) shown_if_absent: Box<[u8]>,
    /// The message with nothing in it, as Go writes it in every version that this depends on.
    zero: Box<[u8]>,
    /// The latest version that came with a part of it.
    zero_since: u8,
}

/// Where a member of JSON is on the wire: in the message itself, or in one that is inlined into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The place of the field, or that of the inlined message.
    pub(super) field: u8,
    pub(super) inlined: bool,
}

/// A field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// In JSON; "" where the message is inlined.
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) of: Type,
    /// JSON leaves it out when it is empty.
    pub(super) omit_empty: bool,
    /// JSON leaves it out when it is zero, since Kubernetes 1.34.
    pub(super) omit_zero: bool,
    /// Its items are claims of volumes, to which the API server adds their type.
    pub(super) has_typed_claims: bool,
    /// The minor version that it came with, where versions before it would write or print something else; else 0.
    pub(super) since: u8,
}

/// How often a field is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Always, in Go; written even when it is zero.
    Value,
    /// A value whose members are those of the message that it is in.
    Inline,
    /// Once or not at all.
    Pointer,
    List,
    /// The keys are text.
    Map,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Text,
    Bool,
    Int32,
    Int64,
    Double,
    /// In JSON base64.
    Bytes,
    Message(u16),
    Quantity,
    IntOrString,
    Time,
    MicroTime,
    Duration,
    /// JSON in a message, or an object in protobuf.
    RawExtension,
    /// JSON in a message.
    Json,
    /// A list of texts in a message of its own.
    Texts,
    SchemaOrBool(u16),
    SchemaOrArray(u16),
    SchemaOrTexts(u16),
}

impl Type {
    /// Whether it is a struct in Go, which JSON shows even where it is empty.
    pub(super) fn is_struct(self) -> bool {
        use Type::{Bool, Bytes, Double, Int32, Int64, Text, Texts};
        !matches!(self, Text | Bool | Int32 | Int64 | Double | Bytes | Texts)
    }

    /// Whether a value that is there may be null in JSON.
    #[inline]
    pub(super) fn may_be_null(self) -> bool {
        use Type::{Json, MicroTime, RawExtension, SchemaOrArray, SchemaOrTexts, Time};
        matches!(self, Time | MicroTime | RawExtension | Json | SchemaOrArray(_) | SchemaOrTexts(_))
    }

    /// The wire type of a value.
    #[inline]
    pub(super) fn wire_type(self) -> u8 {
        match self {
            Self::Bool | Self::Int32 | Self::Int64 => 0,
            Self::Double => 1,
            _ => 2,
        }
    }

    /// The wire types of the fields, from 1 on, of a message that stands for something else in JSON.
    pub(super) fn parts(self) -> &'static [u8] {
        match self {
            Self::Duration => &[0],
            Self::Time | Self::MicroTime => &[0, 0],
            Self::IntOrString => &[0, 0, 2],
            Self::Quantity | Self::RawExtension | Self::Json | Self::Texts => &[2],
            Self::SchemaOrBool(_) => &[0, 2],
            Self::SchemaOrArray(_) | Self::SchemaOrTexts(_) => &[2, 2],
            _ => &[],
        }
    }

    /// The bytes of a value of a type of its own that is zero.
    pub(super) fn zero(self) -> &'static [u8] {
        match self {
            Self::Quantity => b"\x0a\x010",
            Self::IntOrString => b"\x08\0\x10\0\x1a\0",
            Self::Duration | Self::SchemaOrBool(_) => b"\x08\0",
            _ => b"",
        }
    }
}

impl Schema {
    #[inline]
    pub(super) fn message(&'static self, index: u16) -> &'static Message {
        // The table is checked when it is read.
        &self.messages[usize::from(index)]
    }

    fn of_kind(&'static self, api_version: &str, kind: &str) -> Option<u16> {
        let found = self.kinds.binary_search_by(|known| (known.0, known.1).cmp(&(api_version, kind))).ok()?;
        Some(self.kinds[found].2)
    }

    /// What is written for a message that is zero, unless the version makes a difference.
    pub(super) fn zero(&'static self, index: u16, release: Release) -> Option<&'static [u8]> {
        let message = self.message(index);
        release.has(message.zero_since).then_some(&*message.zero)
    }
}

/// Tells the names of one message apart by their first bytes, their last and their length.
fn name_hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let mut first = [0; 8];
    let length = bytes.len().min(8);
    first[..length].copy_from_slice(&bytes[..length]);
    let last = u64::from(bytes.last().copied().unwrap_or(0));
    let mixed = u64::from_le_bytes(first) ^ (bytes.len() as u64) << 56 ^ last << 48;
    // The upper bits of a product depend on all of the factor.
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize
}

impl Message {
    #[inline]
    pub(super) fn by_number(&self, number: u32) -> Option<(u8, &Field)> {
        let place = self.by_number.get(number as usize)?.checked_sub(1)?;
        Some((place, &self.fields[usize::from(place)]))
    }

    fn by_name(&self, name: &str) -> Option<(usize, Place)> {
        let mask = self.name_slots.len().checked_sub(1)?;
        let mut slot = name_hash(name) & mask;
        loop {
            let member = usize::from(self.name_slots[slot].checked_sub(1)?);
            if self.by_name[member].0 == name {
                return Some((member, self.by_name[member].1));
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The field of a member of JSON: its place among the members, the field itself, and how it is reached, which is the
    /// place of each message that it is inlined in and its own, each plus one.
    pub(super) fn member(&'static self, name: &str) -> Option<(usize, &'static Field, [u8; 4])> {
        let (member, mut place) = self.by_name(name)?;
        let mut message = self;
        let mut route = [0; 4];
        for step in &mut route {
            *step = place.field + 1;
            let field = &message.fields[usize::from(place.field)];
            match field.of {
                Type::Message(index) if place.inlined => message = schema().message(index),
                _ => return Some((member, field, route)),
            }
            place = message.by_name(name)?.1;
        }
        // The table has nothing that is inlined so deep.
        None
    }
}

/// A kind of Kubernetes whose objects can be read from protobuf and written to it.
///
/// Known are those of Kubernetes 1.37, and what versions since 1.31 had besides.
#[derive(Clone, Copy)]
pub struct MessageType(u16);

impl MessageType {
    /// The kind of objects of this type. `None`: not a kind of Kubernetes, or of a version that is not known here.
    ///
    /// ```
    /// use kubestore_codec::protobuf::MessageType;
    /// assert!(MessageType::of("apps/v1", "Deployment").is_some());
    /// assert!(MessageType::of("example.com/v1", "Widget").is_none());
    /// ```
    #[must_use]
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        schema().of_kind(api_version, kind).map(Self)
    }

    /// The same, or an error that names the kind.
    pub(super) fn known(api_version: &str, kind: &str) -> Result<Self, ProtobufError> {
        Self::of(api_version, kind).ok_or_else(|| {
            let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
            ProtobufError::new(Problem::UnknownKind { api_version, kind })
        })
    }

    pub(super) fn index(self) -> u16 {
        self.0
    }

    pub(super) fn message(self) -> &'static Message {
        schema().message(self.0)
    }
}

impl fmt::Debug for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MessageType").field(&self.message().name).finish()
    }
}
