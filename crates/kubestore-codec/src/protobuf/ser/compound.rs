//! Values of several parts: messages, maps and lists.

use std::borrow::Cow;

use serde::{
    Serialize,
    ser::{SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct},
};

use super::{
    Object,
    text::TextSerializer,
    tree::{Body, Route, Tree},
    value::{Slot, put},
};
use crate::protobuf::{
    error::{Problem, ProtobufError, Segment},
    schema::{Field, Form, Message, Type, schema},
};

/// The members of a message, or the entries of a map.
pub(super) struct Members<'t> {
    tree: &'t mut Tree,
    slot: Slot,
    depth: u8,
    /// Where the members begin among those that are open.
    from: usize,
    of: Of<'t>,
    next: Next,
}

enum Of<'t> {
    Message {
        message: &'static Message,
        /// The members that were there, by their places among the names.
        seen: u64,
        object: Option<Object<'t>>,
    },
    Entries,
}

/// What the value that comes next belongs to.
enum Next {
    Nothing,
    Member(&'static Field, Route),
    /// `apiVersion` or `kind`, which is not in the message.
    Type(&'static str),
    /// An entry whose key was put where its parts begin.
    Entry(usize),
}

impl<'t> Members<'t> {
    pub(super) fn of_message(
        tree: &'t mut Tree,
        slot: Slot,
        depth: u8,
        index: u16,
        object: Option<Object<'t>>,
    ) -> Self {
        let from = tree.begin();
        let of = Of::Message { message: schema().message(index), seen: 0, object };
        Self { tree, slot, depth, from, of, next: Next::Nothing }
    }

    pub(super) fn entries(tree: &'t mut Tree, slot: Slot, depth: u8) -> Self {
        let from = tree.begin();
        Self { tree, slot, depth, from, of: Of::Entries, next: Next::Nothing }
    }

    fn name(&mut self, name: &str) -> Result<(), ProtobufError> {
        let Of::Message { message, seen, .. } = &mut self.of else {
            let from = self.tree.begin();
            let key = self.tree.bytes(name.as_bytes());
            self.tree.push([0; 4], 1, key);
            self.next = Next::Entry(from);
            return Ok(());
        };
        let problem = match message.member(name) {
            Some((place, field, route)) => {
                let bit = 1 << place;
                if *seen & bit == 0 {
                    *seen |= bit;
                    self.next = Next::Member(field, route);
                    return Ok(());
                }
                Problem::Duplicate
            }
            None => {
                let known = ["apiVersion", "kind"].into_iter().find(|known| *known == name);
                if let Some(known) = known.filter(|_| message.is_object) {
                    self.next = Next::Type(known);
                    return Ok(());
                }
                Problem::UnknownField
            }
        };
        Err(ProtobufError::new(problem).inside(Segment::Field(Cow::Owned(name.to_owned()))))
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ProtobufError> {
        match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Nothing => Ok(()),
            Next::Member(field, route) => {
                let Field { number, form, of, name, .. } = *field;
                let slot = Slot { route, number, form, of, null_is_zero: false };
                put(self.tree, slot, self.depth, value).map_err(|error| error.in_field(name))
            }
            Next::Type(name) => self.check_type(name, value).map_err(|error| error.in_field(name)),
            Next::Entry(from) => {
                let slot =
                    Slot { route: [0; 4], number: 2, form: Form::Value, null_is_zero: true, ..self.slot };
                if let Err(error) = put(self.tree, slot, self.depth, value) {
                    return Err(error.inside(Segment::Key(self.tree.text(from))));
                }
                let entry = self.tree.end_as_is(from);
                self.tree.push(self.slot.route, self.slot.number, entry);
                Ok(())
            }
        }
    }

    /// Looks at the type that an object says it is of. Objects inside of others may say anything.
    fn check_type<T: Serialize + ?Sized>(&self, name: &str, value: &T) -> Result<(), ProtobufError> {
        let Of::Message { object: Some(object), .. } = self.of else { return Ok(()) };
        let expected = if name == "kind" { object.kind } else { object.api_version };
        let is_expected =
            value.serialize(TextSerializer(|text: &str| text.is_empty() || text == expected))?;
        if is_expected {
            return Ok(());
        }
        Err(ProtobufError::new(Problem::OtherType {
            expected: format!("{} {}", object.api_version, object.kind),
        }))
    }

    fn finish(self) {
        let Of::Message { message, .. } = self.of else {
            self.tree.sort_entries(self.from);
            return;
        };
        let mut body = self.tree.end(message, self.from);
        let parts: &[(u32, Body)] = match self.slot.of {
            Type::SchemaOrBool(_) => &[(1, Body::Varint(1)), (2, body)],
            Type::SchemaOrArray(_) | Type::SchemaOrTexts(_) => &[(1, body)],
            _ => &[],
        };
        if !parts.is_empty() {
            for (number, part) in parts {
                self.tree.push([0; 4], *number, *part);
            }
            body = self.tree.end_as_is(self.from);
        }
        self.tree.push(self.slot.route, self.slot.number, body);
    }
}

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = ProtobufError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), ProtobufError> {
        key.serialize(TextSerializer(|name: &str| self.name(name)))?
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ProtobufError> {
        self.value(value)
    }

    fn end(self) -> Result<(), ProtobufError> {
        self.finish();
        Ok(())
    }
}

impl SerializeStruct for Members<'_> {
    type Ok = ();
    type Error = ProtobufError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ProtobufError> {
        self.name(name)?;
        self.value(value)
    }

    fn end(self) -> Result<(), ProtobufError> {
        self.finish();
        Ok(())
    }
}

/// The items of a list.
pub(super) struct Items<'t> {
    tree: &'t mut Tree,
    slot: Slot,
    depth: u8,
    of: Type,
    /// The number of the items where they are in a message of their own.
    within: Option<u32>,
    from: usize,
    index: usize,
}

impl<'t> Items<'t> {
    pub(super) fn new(tree: &'t mut Tree, slot: Slot, depth: u8, of: Type, within: Option<u32>) -> Self {
        let from = tree.begin();
        Self { tree, slot, depth, of, within, from, index: 0 }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ProtobufError> {
        let (route, number) =
            self.within.map_or((self.slot.route, self.slot.number), |number| ([0; 4], number));
        let slot = Slot { route, number, form: Form::Value, of: self.of, null_is_zero: true };
        let index = self.index;
        self.index += 1;
        put(self.tree, slot, self.depth, value).map_err(|error| error.inside(Segment::Index(index)))
    }

    fn finish(self) {
        if self.within.is_some() {
            let body = self.tree.end_as_is(self.from);
            self.tree.push(self.slot.route, self.slot.number, body);
        }
    }
}

macro_rules! items {
    ($($of:ident $method:ident)*) => {$(
        impl $of for Items<'_> {
            type Ok = ();
            type Error = ProtobufError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ProtobufError> {
                self.item(value)
            }

            fn end(self) -> Result<(), ProtobufError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}
items! { SerializeSeq serialize_element SerializeTuple serialize_element SerializeTupleStruct serialize_field }
