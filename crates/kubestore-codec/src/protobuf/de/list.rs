//! Lists.

use serde::de::{DeserializeSeed, SeqAccess};

use super::{
    Context,
    value::{Content, Items, Value},
};
use crate::protobuf::{
    error::{ProtobufError, Segment},
    schema::Type,
    wire::{Payload, Reader},
};

/// The items of a list, packed or not.
pub(super) struct List<'f, 'de> {
    context: Context,
    items: Items<'f, 'de>,
    /// Numbers that are packed into the last item that was read.
    packed: Reader<'de>,
    index: usize,
}

impl<'f, 'de> List<'f, 'de> {
    pub(super) fn new(context: Context, items: Items<'f, 'de>) -> Self {
        Self { context, items, packed: Reader::new(&[]), index: 0 }
    }

    fn next_item(&mut self) -> Result<Option<Payload<'de>>, ProtobufError> {
        loop {
            if let Some(number) = self.next_packed()? {
                return Ok(Some(number));
            }
            let item = match self.items.first.take() {
                Some(first) => first,
                None => match self.items.frame.next_if(self.items.number)? {
                    Some(item) => item,
                    None => return Ok(None),
                },
            };
            match item {
                Payload::Bytes(bytes) if is_number(self.items.of) => self.packed = Reader::new(bytes),
                item => return Ok(Some(item)),
            }
        }
    }

    fn next_packed(&mut self) -> Result<Option<Payload<'de>>, ProtobufError> {
        match self.items.of {
            Type::Double => Ok(self.packed.next_packed_fixed64()?.map(Payload::Fixed64)),
            _ => Ok(self.packed.next_packed()?.map(Payload::Varint)),
        }
    }
}

fn is_number(of: Type) -> bool {
    matches!(of, Type::Bool | Type::Int32 | Type::Int64 | Type::Double)
}

impl<'de> SeqAccess<'de> for List<'_, 'de> {
    type Error = ProtobufError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ProtobufError> {
        let index = self.index;
        let in_item = |error: ProtobufError| error.inside(Segment::Index(index));
        let Some(item) = self.next_item().map_err(in_item)? else { return Ok(None) };
        self.index += 1;
        let content = match self.items.of {
            Type::Message(index) if self.items.are_typed_claims => Content::Claim(index, item),
            of => Content::Single(of, item),
        };
        let value = Value::new(self.context, content);
        seed.deserialize(value).map(Some).map_err(in_item)
    }
}
