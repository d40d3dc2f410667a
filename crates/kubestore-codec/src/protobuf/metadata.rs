//! Type and metadata of an object, without the rest of it.

use std::borrow::Cow;

use super::{
    entry::Entry,
    envelope::Envelope,
    error::ProtobufError,
    schema::{Message, MessageType, Type, schema},
    time::Moment,
    wire::{Payload, Reader},
};
use crate::json::go_text;

/// Type and metadata of a stored object of any kind, known or not. Texts are borrowed from the stored bytes.
///
/// The body is not looked at, nor are managed fields. What the object does not have is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata<'a> {
    /// Such as `apps/v1`.
    pub api_version: Cow<'a, str>,
    /// Such as `Deployment`.
    pub kind: Cow<'a, str>,
    /// The name.
    pub name: Cow<'a, str>,
    /// What the name was made from, if the server made it.
    pub generate_name: Cow<'a, str>,
    /// The namespace, "" for objects of the cluster.
    pub namespace: Cow<'a, str>,
    /// The UID.
    pub uid: Cow<'a, str>,
    /// The resource version, which is "" in what is stored.
    pub resource_version: Cow<'a, str>,
    /// The generation, 0 for none.
    pub generation: i64,
    /// When it was created, in seconds since 1970.
    pub creation_timestamp: Option<i64>,
    /// When it is to be deleted, in seconds since 1970.
    pub deletion_timestamp: Option<i64>,
    /// Labels in order of their keys.
    pub labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Annotations in order of their keys.
    pub annotations: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    /// Owners.
    pub owner_references: Vec<OwnerReference<'a>>,
    /// Finalizers.
    pub finalizers: Vec<Cow<'a, str>>,
}

/// An owner of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnerReference<'a> {
    /// Such as `apps/v1`.
    pub api_version: Cow<'a, str>,
    /// Such as `ReplicaSet`.
    pub kind: Cow<'a, str>,
    /// The name.
    pub name: Cow<'a, str>,
    /// The UID.
    pub uid: Cow<'a, str>,
    /// Whether it controls the object.
    pub controller: bool,
}

/// The number of the metadata in the message of any kind.
const METADATA: u32 = 1;

impl<'a> Metadata<'a> {
    /// Reads them from a stored value, envelope included.
    ///
    /// # Errors
    /// The value is not protobuf of Kubernetes, has no type, or its metadata are damaged.
    pub fn read(stored: &'a [u8]) -> Result<Self, ProtobufError> {
        Self::read_envelope(Envelope::parse(stored)?).map_err(|error| error.in_value(stored))
    }

    fn read_envelope(envelope: Envelope<'a>) -> Result<Self, ProtobufError> {
        envelope.check_type()?;
        let has_metadata = MessageType::of(envelope.api_version(), envelope.kind())
            .is_none_or(|of| has_metadata(of.message()));
        let (api_version, kind, message) = envelope.into_parts();
        let mut metadata = Self { api_version, kind, ..Self::default() };
        let mut fields = Reader::new(message);
        while let Some(field) = fields.next()? {
            if field.number == METADATA && has_metadata {
                let read = metadata.add(field.payload.bytes()?);
                read.map_err(|error| error.in_field("metadata"))?;
            }
        }
        arrange(&mut metadata.labels);
        arrange(&mut metadata.annotations);
        Ok(metadata)
    }

    fn add(&mut self, bytes: &'a [u8]) -> Result<(), ProtobufError> {
        let mut fields = Reader::new(bytes);
        while let Some(field) = fields.next()? {
            let payload = &field.payload;
            match field.number {
                1 => self.name = text(payload)?,
                2 => self.generate_name = text(payload)?,
                3 => self.namespace = text(payload)?,
                5 => self.uid = text(payload)?,
                6 => self.resource_version = text(payload)?,
                7 => self.generation = payload.int64()?,
                8 => self.creation_timestamp = seconds(payload)?,
                9 => self.deletion_timestamp = seconds(payload)?,
                11 => self.labels.push(pair(payload)?),
                12 => self.annotations.push(pair(payload)?),
                13 => self.owner_references.push(owner(payload)?),
                14 => self.finalizers.push(text(payload)?),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether the kind has the metadata of an object; those of a list are others.
fn has_metadata(message: &Message) -> bool {
    message.by_number(METADATA).is_some_and(|(_, field)| match field.of {
        Type::Message(index) => field.name == "metadata" && schema().message(index).name == "ObjectMeta",
        _ => false,
    })
}

fn text<'a>(payload: &Payload<'a>) -> Result<Cow<'a, str>, ProtobufError> {
    payload.bytes().map(go_text)
}

fn seconds(payload: &Payload<'_>) -> Result<Option<i64>, ProtobufError> {
    let moment = Moment::read(payload, false)?;
    Ok((!moment.is_none()).then_some(moment.seconds))
}

fn pair<'a>(payload: &Payload<'a>) -> Result<(Cow<'a, str>, Cow<'a, str>), ProtobufError> {
    let entry = Entry::read(payload, Type::Text)?;
    Ok((go_text(entry.key), text(&entry.value)?))
}

fn owner<'a>(payload: &Payload<'a>) -> Result<OwnerReference<'a>, ProtobufError> {
    let mut owner = OwnerReference::default();
    let mut fields = Reader::new(payload.bytes()?);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => owner.kind = text(&field.payload)?,
            3 => owner.name = text(&field.payload)?,
            4 => owner.uid = text(&field.payload)?,
            5 => owner.api_version = text(&field.payload)?,
            6 => owner.controller = field.payload.varint()? != 0,
            _ => {}
        }
    }
    Ok(owner)
}

/// Puts entries in order. Of several with one key the last counts.
fn arrange(pairs: &mut Vec<(Cow<'_, str>, Cow<'_, str>)>) {
    if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.reverse();
        pairs.dedup_by(|a, b| a.0 == b.0);
        pairs.reverse();
    }
}
