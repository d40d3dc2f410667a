//! Type and metadata of an object in CBOR.

use std::borrow::Cow;

use super::{
    error::CborError,
    reader::{Item, Open, Reader, Unseen},
};
use crate::lazy::HeadRef;

/// The head of an object, all of which is checked. `None`: the value is something else.
pub(super) fn read(data: &[u8]) -> Result<Option<HeadRef<'_>>, CborError> {
    let mut reader = Reader::new(data);
    let mut head = HeadRef::default();
    let first = reader.item(None)?;
    let Item::Map(mut object) = first else {
        reader.walk(first, &mut Unseen)?;
        reader.end()?;
        return Ok(None);
    };
    while let Some(key) = reader.key(&mut object)? {
        let item = reader.item(object.later)?;
        match (&*key, item) {
            ("apiVersion", item) => head.api_version = text(&mut reader, item)?.unwrap_or_default(),
            ("kind", item) => head.kind = text(&mut reader, item)?.unwrap_or_default(),
            ("metadata", Item::Map(map)) => metadata(&mut reader, map, &mut head)?,
            (_, item) => reader.walk(item, &mut Unseen)?,
        }
    }
    reader.end()?;
    Ok(Some(head))
}

fn metadata<'a>(reader: &mut Reader<'a>, mut map: Open<'a>, head: &mut HeadRef<'a>) -> Result<(), CborError> {
    while let Some(key) = reader.key(&mut map)? {
        let item = reader.item(map.later)?;
        match (&*key, item) {
            ("name", item) => head.name = text(reader, item)?.unwrap_or_default(),
            ("namespace", item) => head.namespace = text(reader, item)?.unwrap_or_default(),
            ("uid", item) => head.uid = text(reader, item)?.unwrap_or_default(),
            ("generation", Item::Integer(number)) => head.generation = number,
            ("labels", Item::Map(map)) => head.labels = texts(reader, map)?,
            ("annotations", Item::Map(map)) => head.annotations = texts(reader, map)?,
            (_, item) => reader.walk(item, &mut Unseen)?,
        }
    }
    Ok(())
}

/// Text; of anything else nothing.
fn text<'a>(reader: &mut Reader<'a>, item: Item<'a>) -> Result<Option<Cow<'a, str>>, CborError> {
    match item {
        Item::Text(text) => Ok(Some(text)),
        Item::Bytes(bytes, later) => Ok(Some(Cow::Owned(later.text(&bytes)))),
        other => reader.walk(other, &mut Unseen).map(|()| None),
    }
}

type Pairs<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// Labels or annotations. Where one is not text none counts.
fn texts<'a>(reader: &mut Reader<'a>, mut map: Open<'a>) -> Result<Pairs<'a>, CborError> {
    let mut pairs = Vec::new();
    let mut all_text = true;
    while let Some(key) = reader.key(&mut map)? {
        let item = reader.item(map.later)?;
        match text(reader, item)? {
            Some(value) => pairs.push((key, value)),
            None => all_text = false,
        }
    }
    Ok(if all_text { pairs } else { Vec::new() })
}
