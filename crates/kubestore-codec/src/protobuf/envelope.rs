//! What Kubernetes puts around an object: its type, and the bytes of its message.

use std::borrow::Cow;

use bytes::Bytes;

use super::{
    error::{Problem, ProtobufError},
    wire::{Reader, write_bytes, write_varint},
};
use crate::json::go_text;

/// The first bytes of every value.
const MAGIC: &[u8; 4] = b"k8s\0";

/// A stored value taken apart: the type of the object, and its message.
///
/// ```
/// use kubestore_codec::protobuf::Envelope;
///
/// let stored = Envelope::new("v1", "ConfigMap", b"\x0a\x02\x0a\x00").to_vec();
/// assert_eq!(stored, b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x04\x0a\x02\x0a\x00\x1a\x00\x22\x00");
/// let envelope = Envelope::parse(&stored)?;
/// assert_eq!((envelope.api_version(), envelope.kind()), ("v1", "ConfigMap"));
/// assert_eq!(envelope.message(), b"\x0a\x02\x0a\x00");
/// # Ok::<(), kubestore_codec::protobuf::ProtobufError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Envelope<'a> {
    api_version: Cow<'a, str>,
    kind: Cow<'a, str>,
    message: Message<'a>,
    content_encoding: Cow<'a, str>,
    content_type: Cow<'a, str>,
}

/// The bytes of a message, which `Debug` does not show.
#[derive(Clone, Copy, Default)]
struct Message<'a>(&'a [u8]);

impl std::fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl<'a> Envelope<'a> {
    /// Puts together what Kubernetes writes.
    #[must_use]
    pub fn new(api_version: &'a str, kind: &'a str, message: &'a [u8]) -> Self {
        Self {
            api_version: Cow::Borrowed(api_version),
            kind: Cow::Borrowed(kind),
            message: Message(message),
            ..Self::default()
        }
    }

    /// Takes a stored value apart. The message itself is not looked at, nor are kind and apiVersion, which may be empty.
    ///
    /// # Errors
    /// The value is not protobuf of Kubernetes, or ends too early.
    pub fn parse(stored: &'a [u8]) -> Result<Self, ProtobufError> {
        Self::read(stored).map_err(|error| error.in_value(stored))
    }

    fn read(stored: &'a [u8]) -> Result<Self, ProtobufError> {
        let Some(body) = stored.strip_prefix(MAGIC) else {
            return Err(ProtobufError::new(Problem::NotEnvelope));
        };
        if body.is_empty() {
            return Err(ProtobufError::new(Problem::EmptyBody));
        }
        let mut envelope = Self::default();
        let mut fields = Reader::new(body);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => envelope.read_type(field.payload.bytes()?)?,
                2 => envelope.message = Message(field.payload.bytes()?),
                3 => envelope.content_encoding = go_text(field.payload.bytes()?),
                4 => envelope.content_type = go_text(field.payload.bytes()?),
                _ => {}
            }
        }
        Ok(envelope)
    }

    fn read_type(&mut self, bytes: &'a [u8]) -> Result<(), ProtobufError> {
        let mut fields = Reader::new(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => self.api_version = go_text(field.payload.bytes()?),
                2 => self.kind = go_text(field.payload.bytes()?),
                _ => {}
            }
        }
        Ok(())
    }

    /// The stored value, byte for byte as Kubernetes writes it.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.wrap(self.message.0.len(), |out| out.extend_from_slice(self.message.0))
    }

    /// The same for a message of a known length that is still to be written.
    pub(super) fn wrap(&self, length: usize, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::with_capacity(length + self.api_version.len() + self.kind.len() + 32);
        self.write_head(&mut out);
        write_varint(&mut out, 2 << 3 | 2);
        write_varint(&mut out, length as u64);
        write(&mut out);
        write_bytes(&mut out, 3, self.content_encoding.as_bytes());
        write_bytes(&mut out, 4, self.content_type.as_bytes());
        out
    }

    /// The magic and the type.
    fn write_head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(MAGIC);
        let mut of = Vec::with_capacity(self.api_version.len() + self.kind.len() + 8);
        write_bytes(&mut of, 1, self.api_version.as_bytes());
        write_bytes(&mut of, 2, self.kind.as_bytes());
        write_bytes(out, 1, &of);
    }

    /// Such as `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// Such as `Deployment`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The bytes of the object's message.
    #[must_use]
    pub fn message(&self) -> &'a [u8] {
        self.message.0
    }

    /// The same bytes as a part of the buffer that was parsed, without a copy. Of another buffer it is a copy.
    #[must_use]
    pub fn message_of(&self, stored: &Bytes) -> Bytes {
        let start = self.message.0.as_ptr().addr().checked_sub(stored.as_ptr().addr());
        let range = start.map(|start| start..start + self.message.0.len());
        match range.filter(|range| range.end <= stored.len()) {
            Some(range) => stored.slice(range),
            None => Bytes::copy_from_slice(self.message.0),
        }
    }

    /// How the message is compressed, by the name of HTTP. Kubernetes writes "" and never looks at it.
    #[must_use]
    pub fn content_encoding(&self) -> &str {
        &self.content_encoding
    }

    /// What the message is, by the name of HTTP. Kubernetes writes "" for protobuf and never looks at it.
    #[must_use]
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// Type and message.
    pub(super) fn into_parts(self) -> (Cow<'a, str>, Cow<'a, str>, &'a [u8]) {
        (self.api_version, self.kind, self.message.0)
    }

    /// Checks that there is a type, as Kubernetes does.
    pub(super) fn check_type(&self) -> Result<(), ProtobufError> {
        check_type(&self.api_version, &self.kind)
    }
}

pub(super) fn check_type(api_version: &str, kind: &str) -> Result<(), ProtobufError> {
    let problem = if kind.is_empty() {
        Problem::NoKind { api_version: api_version.to_owned() }
    } else if api_version.is_empty() {
        Problem::NoApiVersion { kind: kind.to_owned() }
    } else if api_version.bytes().filter(|byte| *byte == b'/').count() > 1 {
        Problem::BadApiVersion { api_version: api_version.to_owned(), kind: kind.to_owned() }
    } else {
        return Ok(());
    };
    Err(ProtobufError::new(problem))
}
