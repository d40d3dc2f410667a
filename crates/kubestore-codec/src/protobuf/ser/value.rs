//! One value: that of a member, of an item of a list, or of an entry of a map.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    Serialize,
    ser::{self, Impossible},
};

use super::{
    Object,
    compound::{Items, Members},
    raw,
    tree::{Body, Route, Tree},
};
use crate::protobuf::{
    MAX_MESSAGES, duration,
    error::{Problem, ProtobufError},
    quantity,
    schema::{Form, Type},
    time::Moment,
};

/// Where a value goes, and of what type it is.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) route: Route,
    pub(super) number: u32,
    pub(super) form: Form,
    pub(super) of: Type,
    /// Whether null stands for zero, as it does in lists and maps, or for nothing.
    pub(super) null_is_zero: bool,
}

/// Serialises one value into a slot.
pub(super) struct ValueSerializer<'t> {
    pub(super) tree: &'t mut Tree,
    pub(super) slot: Slot,
    pub(super) depth: u8,
    object: Option<Object<'t>>,
}

/// Puts a value into a slot.
pub(super) fn put<T: Serialize + ?Sized>(
    tree: &mut Tree,
    slot: Slot,
    depth: u8,
    value: &T,
) -> Result<(), ProtobufError> {
    let is_single = !matches!(slot.form, Form::List | Form::Map);
    let serializer = ValueSerializer { tree, slot, depth, object: None };
    if !is_single || !matches!(slot.of, Type::RawExtension | Type::Json) {
        return value.serialize(serializer);
    }
    match raw::encode(value)? {
        Some(json) => {
            let json = serializer.tree.bytes(&json);
            serializer.message(&[(1, json)])
        }
        None => serializer.null(),
    }
}

impl<'t> ValueSerializer<'t> {
    /// For the object itself.
    pub(super) fn of_object(tree: &'t mut Tree, object: Object<'t>) -> Self {
        let of = Type::Message(object.of.index());
        let slot = Slot { route: [0; 4], number: 0, form: Form::Value, of, null_is_zero: false };
        Self { tree, slot, depth: 0, object: Some(object) }
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is the end of methods that may fail")]
    fn push(self, body: Body) -> Result<(), ProtobufError> {
        self.tree.push(self.slot.route, self.slot.number, body);
        Ok(())
    }

    /// A message of its fields.
    fn message(self, fields: &[(u32, Body)]) -> Result<(), ProtobufError> {
        let from = self.tree.begin();
        for (number, body) in fields {
            self.tree.push([0; 4], *number, *body);
        }
        let body = self.tree.end_as_is(from);
        self.push(body)
    }

    fn null(self) -> Result<(), ProtobufError> {
        if self.object.is_some() {
            return Err(self.unexpected());
        }
        if self.slot.null_is_zero && self.slot.of != Type::Bytes {
            let zero = self.tree.zero(self.slot.of);
            return self.push(zero);
        }
        Ok(())
    }

    /// The error about a value that does not fit.
    #[cold]
    fn unexpected(&self) -> ProtobufError {
        ProtobufError::new(Problem::Expected(expected(self.slot.form, self.slot.of).to_owned()))
    }

    /// The type of a single value; a list and a map take none.
    fn single(&self) -> Result<Type, ProtobufError> {
        match self.slot.form {
            Form::List | Form::Map => Err(self.unexpected()),
            Form::Value | Form::Inline | Form::Pointer => Ok(self.slot.of),
        }
    }

    fn text(self, text: &str) -> Result<(), ProtobufError> {
        let bytes = match self.single()? {
            Type::Text => {
                return {
                    let body = self.tree.bytes(text.as_bytes());
                    self.push(body)
                };
            }
            Type::Bytes => decode_base64(text).map(|bytes| self.tree.bytes(&bytes)),
            Type::Quantity => return self.quantity(text),
            Type::IntOrString => {
                let text = self.tree.bytes(text.as_bytes());
                return self.message(&[(1, Body::Varint(1)), (2, Body::Varint(0)), (3, text)]);
            }
            Type::Time | Type::MicroTime => match Moment::parse(text) {
                Some(moment) => return self.time(moment),
                None => None,
            },
            Type::Duration => match duration::parse(text) {
                Some(nanos) => return self.message(&[(1, Body::Varint(nanos.cast_unsigned()))]),
                None => None,
            },
            _ => None,
        };
        match bytes {
            Some(bytes) => self.push(bytes),
            None => Err(self.unexpected()),
        }
    }

    fn quantity(self, text: &str) -> Result<(), ProtobufError> {
        match quantity::canonical(text.trim()) {
            Some(text) => {
                let text = self.tree.bytes(text.as_bytes());
                self.message(&[(1, text)])
            }
            None => Err(self.unexpected()),
        }
    }

    fn time(self, moment: Moment) -> Result<(), ProtobufError> {
        let nanos = if self.slot.of == Type::Time { 0 } else { moment.nanos / 1000 * 1000 };
        let moment = Moment { nanos, ..moment };
        if moment.is_none() {
            return self.push(Body::Static(b""));
        }
        self.message(&[(1, Body::Varint(moment.seconds.cast_unsigned())), (2, Body::Varint(nanos.into()))])
    }

    fn integer(self, value: i128) -> Result<(), ProtobufError> {
        let number = match self.single()? {
            Type::Int32 => i32::try_from(value).ok().map(i64::from),
            Type::Int64 => i64::try_from(value).ok(),
            #[expect(clippy::cast_precision_loss, reason = "as when it is read from JSON")]
            Type::Double => return self.push(Body::Fixed64((value as f64).to_bits())),
            Type::Quantity => return self.quantity(&value.to_string()),
            Type::IntOrString => {
                let Ok(number) = i32::try_from(value) else { return Err(self.unexpected()) };
                let number = Body::Varint(i64::from(number).cast_unsigned());
                return self.message(&[(1, Body::Varint(0)), (2, number), (3, Body::Static(b""))]);
            }
            _ => None,
        };
        match number {
            Some(number) => self.push(Body::Varint(number.cast_unsigned())),
            None => Err(self.unexpected()),
        }
    }

    fn float(self, value: f64) -> Result<(), ProtobufError> {
        match self.single()? {
            Type::Double if value.is_finite() => self.push(Body::Fixed64(value.to_bits())),
            Type::Quantity if value.is_finite() => self.quantity(&value.to_string()),
            _ => Err(self.unexpected()),
        }
    }

    fn members(self) -> Result<Members<'t>, ProtobufError> {
        let depth = self.depth + 1;
        if depth > MAX_MESSAGES {
            return Err(ProtobufError::new(Problem::TooDeep));
        }
        let message = match (self.slot.form, self.slot.of) {
            (Form::Map, _) => return Ok(Members::entries(self.tree, self.slot, depth)),
            (
                Form::Value | Form::Inline | Form::Pointer,
                Type::Message(index)
                | Type::SchemaOrBool(index)
                | Type::SchemaOrArray(index)
                | Type::SchemaOrTexts(index),
            ) => index,
            _ => return Err(self.unexpected()),
        };
        Ok(Members::of_message(self.tree, self.slot, depth, message, self.object))
    }

    fn items(self) -> Result<Items<'t>, ProtobufError> {
        let (of, number) = match (self.slot.form, self.slot.of) {
            (Form::List, of) => return Ok(Items::new(self.tree, self.slot, self.depth, of, None)),
            (Form::Value | Form::Pointer, Type::Texts) => (Type::Text, 1),
            (Form::Value | Form::Pointer, Type::SchemaOrArray(index)) => (Type::Message(index), 2),
            (Form::Value | Form::Pointer, Type::SchemaOrTexts(_)) => (Type::Text, 2),
            _ => return Err(self.unexpected()),
        };
        Ok(Items::new(self.tree, self.slot, self.depth, of, Some(number)))
    }
}

/// Go passes over line ends.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\r', '\n']) {
        return STANDARD.decode(text.replace(['\r', '\n'], "")).ok();
    }
    STANDARD.decode(text).ok()
}

/// What a field takes, for messages.
fn expected(form: Form, of: Type) -> &'static str {
    match (form, of) {
        (Form::List, _) => "a list",
        (Form::Map, _) => "an object",
        (_, Type::Text) => "text",
        (_, Type::Bool) => "true or false",
        (_, Type::Int32) => "an integer of 32 bits",
        (_, Type::Int64) => "an integer of 64 bits",
        (_, Type::Double) => "a finite number",
        (_, Type::Bytes) => "base64",
        (_, Type::Message(_)) => "an object",
        (_, Type::Quantity) => "a quantity such as 500m or 64Mi",
        (_, Type::IntOrString) => "text or an integer of 32 bits",
        (_, Type::Time | Type::MicroTime) => "a time such as 2006-01-02T15:04:05Z",
        (_, Type::Duration) => "a duration such as 1m30s",
        (_, Type::RawExtension | Type::Json) => "JSON",
        (_, Type::Texts) => "a list of text",
        (_, Type::SchemaOrBool(_)) => "a schema, true or false",
        (_, Type::SchemaOrArray(_)) => "a schema or a list of schemas",
        (_, Type::SchemaOrTexts(_)) => "a schema or a list of text",
    }
}

macro_rules! integers {
    ($($method:ident($integer:ty))*) => {$(
        fn $method(self, value: $integer) -> Result<(), ProtobufError> {
            self.integer(value.into())
        }
    )*};
}

impl<'t> ser::Serializer for ValueSerializer<'t> {
    type Ok = ();
    type Error = ProtobufError;
    type SerializeSeq = Items<'t>;
    type SerializeTuple = Items<'t>;
    type SerializeTupleStruct = Items<'t>;
    type SerializeTupleVariant = Impossible<(), ProtobufError>;
    type SerializeMap = Members<'t>;
    type SerializeStruct = Members<'t>;
    type SerializeStructVariant = Impossible<(), ProtobufError>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128) serialize_u8(u8)
        serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
    }

    fn serialize_bool(self, value: bool) -> Result<(), ProtobufError> {
        match self.single()? {
            Type::Bool => self.push(Body::Varint(value.into())),
            Type::SchemaOrBool(_) => self.message(&[(1, Body::Varint(value.into()))]),
            _ => Err(self.unexpected()),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), ProtobufError> {
        self.float(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), ProtobufError> {
        self.float(value)
    }

    fn serialize_char(self, value: char) -> Result<(), ProtobufError> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), ProtobufError> {
        self.text(text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), ProtobufError> {
        match self.single()? {
            Type::Bytes => {
                let body = self.tree.bytes(bytes);
                self.push(body)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn serialize_none(self) -> Result<(), ProtobufError> {
        self.null()
    }

    fn serialize_unit(self) -> Result<(), ProtobufError> {
        self.null()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), ProtobufError> {
        self.null()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
    ) -> Result<(), ProtobufError> {
        self.text(name)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), ProtobufError> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), ProtobufError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), ProtobufError> {
        Err(self.unexpected())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'t>, ProtobufError> {
        self.items()
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'t>, ProtobufError> {
        self.items()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'t>, ProtobufError> {
        self.items()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, ProtobufError> {
        Err(self.unexpected())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'t>, ProtobufError> {
        self.members()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'t>, ProtobufError> {
        self.members()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, ProtobufError> {
        Err(self.unexpected())
    }
}
