//! Arrays and maps of serde types into CBOR.

use std::ops::Range;

use ciborium_ll::Header;
use serde::{
    Serialize,
    ser::{self, SerializeMap as _},
};

use super::{
    error::CborError,
    header::{NULL, write_header},
    name::Name,
    reader::{Item, MAX_MEMBERS, Reader},
    ser::Serializer,
};

/// An array whose length is not known before its end.
pub(super) struct Values<'a, 's> {
    serializer: &'a mut Serializer<'s>,
    start: usize,
    count: usize,
    levels: usize,
}

impl<'a, 's> Values<'a, 's> {
    pub(super) fn begin(serializer: &'a mut Serializer<'s>, levels: usize) -> Result<Self, CborError> {
        serializer.deeper()?;
        let start = serializer.out.len();
        Ok(Self { serializer, start, count: 0, levels })
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CborError> {
        self.count += 1;
        value.serialize(&mut *self.serializer)
    }

    fn finish(self) {
        let mut header = Vec::new();
        write_header(&mut header, Header::Array(Some(self.count)));
        self.serializer.out.splice(self.start..self.start, header);
        self.serializer.levels -= self.levels;
    }
}

macro_rules! values {
    ($($serialize:ident: $method:ident,)*) => {$(
        impl ser::$serialize for Values<'_, '_> {
            type Ok = ();
            type Error = CborError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CborError> {
                self.value(value)
            }

            fn end(self) -> Result<(), CborError> {
                self.finish();
                Ok(())
            }
        }
    )*};
}
values! {
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}

/// A map whose members are put in order at its end.
pub(super) struct Members<'a, 's> {
    serializer: &'a mut Serializer<'s>,
    start: usize,
    /// Name and encoded value, as parts of what was written since the start.
    members: Vec<(Range<usize>, Range<usize>)>,
    name: Range<usize>,
    levels: usize,
    is_outermost: bool,
}

impl<'a, 's> Members<'a, 's> {
    pub(super) fn begin(serializer: &'a mut Serializer<'s>, levels: usize) -> Result<Self, CborError> {
        serializer.deeper()?;
        let start = serializer.out.len();
        let is_outermost = serializer.levels == 1;
        Ok(Self { serializer, start, members: Vec::new(), name: 0..0, levels, is_outermost })
    }

    fn length(&self) -> usize {
        self.serializer.out.len() - self.start
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: Range<usize>, value: &T) -> Result<(), CborError> {
        let from = self.length();
        value.serialize(&mut *self.serializer)?;
        self.members.push((name, from..self.length()));
        Ok(())
    }

    fn name(&mut self, name: &str) -> Range<usize> {
        let from = self.length();
        self.serializer.out.extend_from_slice(name.as_bytes());
        from..self.length()
    }

    fn finish(mut self) -> Result<(), CborError> {
        if self.is_outermost {
            self.supply()?;
            self.serializer.api_version = self.text("apiVersion");
            self.serializer.kind = self.text("kind");
        }
        let written = self.serializer.out.split_off(self.start);
        let name = |member: &(Range<usize>, Range<usize>)| &written[member.0.clone()];
        // The order of the encoded names: their length comes first. Of equal names the last stays.
        self.members.sort_by(|a, b| (a.0.len(), name(a)).cmp(&(b.0.len(), name(b))));
        self.members.reverse();
        self.members.dedup_by(|a, b| name(a) == name(b));
        self.members.reverse();
        if self.members.len() > MAX_MEMBERS {
            return Err(CborError::without_offset(format!("more than {MAX_MEMBERS} members")));
        }
        let out = &mut self.serializer.out;
        write_header(out, Header::Map(Some(self.members.len())));
        for (name, value) in self.members {
            write_header(out, Header::Bytes(Some(name.len())));
            out.extend_from_slice(&written[name]);
            out.extend_from_slice(&written[value]);
        }
        self.serializer.levels -= self.levels;
        Ok(())
    }

    /// The encoded value of a member.
    fn encoded(&self, name: &str) -> Option<&[u8]> {
        let written = &self.serializer.out[self.start..];
        let (_, value) = self.members.iter().rfind(|(own, _)| written[own.clone()] == *name.as_bytes())?;
        Some(&written[value.clone()])
    }

    /// A member as text, "" when it is not.
    fn text(&self, name: &str) -> String {
        match self.encoded(name).map(|value| Reader::new(value).item(None)) {
            Some(Ok(Item::Text(text))) => text.into_owned(),
            _ => String::new(),
        }
    }

    /// Adds the supplied texts where there is nothing else.
    fn supply(&mut self) -> Result<(), CborError> {
        const EMPTY: u8 = 0x40;
        for (name, text) in self.serializer.supplied {
            if self.encoded(name).is_none_or(|value| matches!(value, [NULL | EMPTY])) {
                let name = self.name(name);
                self.member(name, *text)?;
            }
        }
        Ok(())
    }
}

impl ser::SerializeMap for Members<'_, '_> {
    type Ok = ();
    type Error = CborError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), CborError> {
        let name = key.serialize(Name)?;
        self.name = self.name(&name);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CborError> {
        self.member(self.name.clone(), value)
    }

    fn end(self) -> Result<(), CborError> {
        self.finish()
    }
}

macro_rules! fields {
    ($($serialize:ident)*) => {$(
        impl ser::$serialize for Members<'_, '_> {
            type Ok = ();
            type Error = CborError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), CborError> {
                self.serialize_entry(name, value)
            }

            fn end(self) -> Result<(), CborError> {
                self.finish()
            }
        }
    )*};
}
fields! { SerializeStruct SerializeStructVariant }
