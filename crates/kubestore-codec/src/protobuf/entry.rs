//! An entry of a map on the wire.

use super::{
    error::ProtobufError,
    schema::Type,
    wire::{Payload, Reader},
};

/// Key and value; the key is text.
#[derive(Clone)]
pub(super) struct Entry<'de> {
    pub(super) key: &'de [u8],
    pub(super) value: Payload<'de>,
}

impl<'de> Entry<'de> {
    /// Takes an entry apart. What it does not have is zero.
    pub(super) fn read(payload: &Payload<'de>, of: Type) -> Result<Self, ProtobufError> {
        let zero = match of {
            Type::Bool | Type::Int32 | Type::Int64 => Payload::Varint(0),
            Type::Double => Payload::Fixed64(0),
            _ => Payload::EMPTY,
        };
        let mut entry = Self { key: &[], value: zero };
        let mut fields = Reader::new(payload.bytes()?);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => entry.key = field.payload.bytes()?,
                2 => entry.value = field.payload,
                _ => {}
            }
        }
        Ok(entry)
    }
}
