//! Reading the table. It is a part of the program, so that a mistake in it is one of ours.

use super::{Field, Form, Message, Place, Schema, Type, name_hash};
use crate::protobuf::wire::{write_bytes, write_varint};

/// Reads the table; its beginning says what its lines are.
///
/// A type is a form (`*` a pointer, `[` a list, `{` a map, `<` inlined, else a value), a letter and for messages a number.
/// `?` and `!` after it are Go's omitempty and omitzero; `+` adds the type of a claim to each item, `^36` says that the field came
/// with Kubernetes 1.36.
pub(super) fn parse(table: &'static str) -> Schema {
    let mut schema = Schema::default();
    let mut api_version = "";
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        if let Some(version) = line.strip_prefix('=') {
            api_version = version;
        } else if let Some((kind, message)) = line.split_once(' ') {
            schema.kinds.push((api_version, kind, number(message)));
        }
    }
    schema.messages = lines.map(message).collect();
    let names = (0..schema.messages.len()).map(|index| names(&schema, index)).collect::<Vec<_>>();
    for (message, names) in schema.messages.iter_mut().zip(names) {
        message.name_slots = name_slots(&names);
        message.by_name = names;
    }
    let zeros = (0..schema.messages.len()).map(|index| zero(&schema, index)).collect::<Vec<_>>();
    for (message, (zero, since)) in schema.messages.iter_mut().zip(zeros) {
        message.zero = zero.into();
        message.zero_since = since;
    }
    schema
}

fn message(line: &'static str) -> Message {
    let mut words = line.split(' ').peekable();
    let name = words.next().unwrap_or_default();
    let is_object = words.next_if_eq(&"@").is_some();
    let fields: Box<[Field]> = words.filter_map(field).collect();
    let mut by_number = vec![0; fields.last().map_or(0, |last| last.number as usize + 1)];
    let mut shown_if_absent = Vec::new();
    for (place, field) in (0_u8..).zip(&fields) {
        by_number[field.number as usize] = place + 1;
        let is_shown = match field.form {
            Form::Inline => true,
            // Who knew the field has written it, so that an object without it is from before, and shown as it was then.
            Form::Value if field.of.is_struct() => field.since == 0,
            _ => !field.omit_empty,
        };
        if is_shown {
            shown_if_absent.push(place);
        }
    }
    Message {
        name,
        is_object,
        fields,
        by_number: by_number.into(),
        by_name: Box::default(),
        name_slots: Box::default(),
        shown_if_absent: shown_if_absent.into(),
        zero: Box::default(),
        zero_since: 0,
    }
}

/// `12*m34?:metadata`
fn field(word: &'static str) -> Option<Field> {
    let (start, name) = word.split_once(':')?;
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let (number_text, rest) = start.split_at(digits);
    let (form, rest) = match rest.as_bytes().first()? {
        b'*' => (Form::Pointer, &rest[1..]),
        b'[' => (Form::List, &rest[1..]),
        b'{' => (Form::Map, &rest[1..]),
        b'<' => (Form::Inline, &rest[1..]),
        _ => (Form::Value, rest),
    };
    let (letter, rest) = rest.split_at_checked(1)?;
    let flags = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let message = || number(&rest[..rest.len() - flags.len()]);
    let of = match letter {
        "s" => Type::Text,
        "b" => Type::Bool,
        "i" => Type::Int32,
        "l" => Type::Int64,
        "d" => Type::Double,
        "y" => Type::Bytes,
        "m" => Type::Message(message()),
        "Q" => Type::Quantity,
        "I" => Type::IntOrString,
        "T" => Type::Time,
        "U" => Type::MicroTime,
        "D" => Type::Duration,
        "R" => Type::RawExtension,
        "J" => Type::Json,
        "L" => Type::Texts,
        "B" => Type::SchemaOrBool(message()),
        "A" => Type::SchemaOrArray(message()),
        "S" => Type::SchemaOrTexts(message()),
        _ => return None,
    };
    let number = number_text.parse().ok()?;
    let since = flags.split_once('^').map_or(Some(0), |(_, since)| since.parse().ok())?;
    let has_typed_claims = flags.contains('+');
    Some(Field {
        number,
        name,
        form,
        of,
        omit_empty: flags.contains('?'),
        omit_zero: flags.contains('!'),
        has_typed_claims,
        since,
    })
}

/// The members of a message in JSON, in order.
fn names(schema: &Schema, message: usize) -> Box<[(&'static str, Place)]> {
    let mut names = Vec::new();
    for (place, field) in (0_u8..).zip(&schema.messages[message].fields) {
        match (field.form, field.of) {
            (Form::Inline, Type::Message(inlined)) => {
                let inner = self::names(schema, usize::from(inlined));
                names.extend(inner.iter().map(|(name, _)| (*name, Place { field: place, inlined: true })));
            }
            _ => names.push((field.name, Place { field: place, inlined: false })),
        }
    }
    names.sort_unstable_by_key(|(name, _)| *name);
    names.into()
}

/// Where names are found by their hash.
fn name_slots(names: &[(&'static str, Place)]) -> Box<[u8]> {
    if names.is_empty() {
        return Box::default();
    }
    let mut slots = vec![0; (names.len() * 2).next_power_of_two()];
    let mask = slots.len() - 1;
    for (place, (name, _)) in (1_u8..).zip(names) {
        let mut slot = name_hash(name) & mask;
        while slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        slots[slot] = place;
    }
    slots.into()
}

/// What Go writes for a message that is zero: every value that is no pointer, list or map. And the latest version that came
/// with a part of it.
fn zero(schema: &Schema, message: usize) -> (Vec<u8>, u8) {
    let mut out = Vec::new();
    let mut latest = 0;
    for field in &schema.messages[message].fields {
        if !matches!(field.form, Form::Value | Form::Inline) {
            continue;
        }
        latest = latest.max(field.since);
        let tag = u64::from(field.number << 3);
        match field.of {
            Type::Bytes | Type::Texts => {}
            Type::Bool | Type::Int32 | Type::Int64 => {
                write_varint(&mut out, tag);
                out.push(0);
            }
            Type::Double => {
                write_varint(&mut out, tag | 1);
                out.extend_from_slice(&[0; 8]);
            }
            Type::Message(index) => {
                let (bytes, since) = zero(schema, usize::from(index));
                latest = latest.max(since);
                write_bytes(&mut out, field.number, &bytes);
            }
            of => write_bytes(&mut out, field.number, of.zero()),
        }
    }
    (out, latest)
}

fn number(text: &str) -> u16 {
    text.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Form, Type, schema};

    /// Every line of the table is understood, and every message that is named is there.
    #[test]
    fn the_table_is_complete() {
        let schema = schema();
        let table = include_str!("table.txt");
        let words: usize =
            table.lines().filter(|line| !line.starts_with('#')).map(|line| line.matches(':').count()).sum();
        assert_eq!(schema.messages.iter().map(|message| message.fields.len()).sum::<usize>(), words);
        assert!(schema.kinds.is_sorted(), "the kinds are searched by halves");
        let mut indices: Vec<u16> = schema.kinds.iter().map(|kind| kind.2).collect();
        for message in &schema.messages {
            assert!(
                message.by_name.len() <= 64 && message.fields.len() <= 64,
                "{}: a set of fields is one word",
                message.name
            );
            assert!(message.fields.is_sorted_by_key(|field| field.number), "{}", message.name);
            assert!(
                message.by_name.is_sorted_by(|a, b| a.0 < b.0),
                "{}: two members of one name",
                message.name
            );
            for field in &message.fields {
                match field.of {
                    Type::Message(index)
                    | Type::SchemaOrBool(index)
                    | Type::SchemaOrArray(index)
                    | Type::SchemaOrTexts(index) => indices.push(index),
                    _ => assert_ne!(field.form, Form::Inline, "{}: only messages are inlined", message.name),
                }
            }
        }
        assert!(indices.iter().all(|index| usize::from(*index) < schema.messages.len()));
    }
}
