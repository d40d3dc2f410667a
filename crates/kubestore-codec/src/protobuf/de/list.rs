//! Lists.

use serde::de::{DeserializeSeed, SeqAccess};

use super::{Context, frame::Frame, value::Value};
use crate::protobuf::{
    error::{ProtobufError, Segment},
    schema::{Field, Type},
    wire::{Payload, Reader},
};

/// The items of a list, packed or not.
pub(super) struct List<'f, 'de> {
    context: Context,
    field: &'static Field,
    /// The first item; the others follow in the message.
    first: Option<Payload<'de>>,
    frame: &'f mut Frame<'de>,
    /// Numbers that are packed into the last item that was read.
    packed: Reader<'de>,
    index: usize,
}

impl<'f, 'de> List<'f, 'de> {
    pub(super) fn new(
        context: Context,
        field: &'static Field,
        first: Payload<'de>,
        frame: &'f mut Frame<'de>,
    ) -> Self {
        Self { context, field, first: Some(first), frame, packed: Reader::new(&[]), index: 0 }
    }

    fn next_item(&mut self) -> Result<Option<Payload<'de>>, ProtobufError> {
        if !is_number(self.field.of) {
            return self.next_on_wire();
        }
        loop {
            if let Some(number) = self.next_packed()? {
                return Ok(Some(number));
            }
            match self.next_on_wire()? {
                Some(Payload::Bytes(bytes)) => self.packed = Reader::new(bytes),
                item => return Ok(item),
            }
        }
    }

    fn next_on_wire(&mut self) -> Result<Option<Payload<'de>>, ProtobufError> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.frame.next_if(self.field.number),
        }
    }

    fn next_packed(&mut self) -> Result<Option<Payload<'de>>, ProtobufError> {
        match self.field.of {
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
        let mut value = Value::new(self.context, self.field.of, item);
        value.is_typed_claim = self.field.has_typed_claims;
        seed.deserialize(value).map(Some).map_err(in_item)
    }
}
