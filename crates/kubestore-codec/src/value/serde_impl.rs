//! Values as serde sees them.

use std::fmt;

use serde::{
    de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor},
    ser::{self, Serialize, SerializeMap as _, SerializeSeq as _, Serializer},
};

use super::{Array, Map, Value};

/// Serializers recurse, so a deep value is refused before the stack is used up.
const MAX_SERDE_DEPTH: usize = 512;

/// A value that is inside of so many containers.
struct Nested<'a>(&'a Value, usize);

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Integer(value) => serializer.serialize_i64(*value),
            Value::Float(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::Float(_) => Err(ser::Error::custom("a float that is not a finite number")),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(array) => serialize_array(array, serializer, self.1),
            Value::Object(map) => serialize_map(map, serializer, self.1),
        }
    }
}

fn deeper<E: ser::Error>(depth: usize) -> Result<usize, E> {
    if depth == MAX_SERDE_DEPTH {
        return Err(E::custom(format_args!("nested deeper than {MAX_SERDE_DEPTH} levels")));
    }
    Ok(depth + 1)
}

fn serialize_array<S: Serializer>(array: &Array, serializer: S, depth: usize) -> Result<S::Ok, S::Error> {
    let depth = deeper(depth)?;
    let mut sequence = serializer.serialize_seq(Some(array.len()))?;
    for value in array {
        sequence.serialize_element(&Nested(value, depth))?;
    }
    sequence.end()
}

fn serialize_map<S: Serializer>(map: &Map, serializer: S, depth: usize) -> Result<S::Ok, S::Error> {
    let depth = deeper(depth)?;
    let mut members = serializer.serialize_map(Some(map.len()))?;
    for (key, value) in map.iter() {
        members.serialize_entry(key, &Nested(value, depth))?;
    }
    members.end()
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Nested(self, 0).serialize(serializer)
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_map(self, serializer, 0)
    }
}

impl Serialize for Array {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_array(self, serializer, 0)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        #[expect(clippy::cast_precision_loss, reason = "as when it is read from JSON")]
        Ok(i64::try_from(value).map_or(Value::Float(value as f64), Value::Integer))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        if !value.is_finite() {
            return Err(E::custom("a float that is not a finite number"));
        }
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element::<Value>()? {
            values.push(value);
        }
        Ok(Value::from(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Value, A::Error> {
        MapVisitor.visit_map(members).map(Value::Object)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct MapVisitor;

impl<'de> Visitor<'de> for MapVisitor {
    type Value = Map;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Map, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = access.next_entry::<Box<str>, Value>()? {
            members.push((key, value));
        }
        Ok(Map::from_members(members))
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor)
    }
}

impl<'de> Deserialize<'de> for Array {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
