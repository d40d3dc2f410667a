//! Reading a few scalars, or the metadata, without building the object.

use std::borrow::Cow;

use super::{
    error::CborError,
    reader::{Item, Open, Reader, Unseen},
};
use crate::{
    json::{Mask, Paths, Scalar, Skimmed, scalar_text},
    value::Value,
};

/// Why there is no answer: the bytes are wrong, or are an object that only the decoder reads right.
pub(super) struct GivenUp;

impl From<CborError> for GivenUp {
    fn from(_: CborError) -> Self {
        Self
    }
}

/// Searches a document, all of which is read and checked. Gives up on what is not an object, and on labels that are not all
/// text.
pub(super) fn skim<'a>(data: &'a [u8], paths: &Paths<'_>) -> Result<Skimmed<'a>, GivenUp> {
    let mut search = Search { reader: Reader::new(data), paths, found: Skimmed::nothing(paths) };
    let Item::Map(object) = search.reader.item(None)? else { return Err(GivenUp) };
    search.map(object, paths.everything(), 0)?;
    search.reader.end()?;
    Ok(search.found)
}

struct Search<'a, 'p> {
    reader: Reader<'a>,
    paths: &'p Paths<'p>,
    found: Skimmed<'a>,
}

impl<'a> Search<'a, '_> {
    /// Reads a map in which something may be found, `depth` maps from the top.
    fn map(&mut self, mut map: Open<'a>, candidates: Mask, depth: usize) -> Result<(), GivenUp> {
        let all_text = depth == 2 && candidates & self.paths.labels() != 0;
        while let Some(key) = self.reader.key(&mut map)? {
            self.found.has_items |= depth == 0 && key == "items";
            let matching = self.paths.matching(candidates, depth, &key);
            let item = self.reader.item(map.later)?;
            if all_text && !matches!(item, Item::Text(_) | Item::Bytes(..)) {
                return Err(GivenUp);
            }
            match item {
                Item::Map(inner) if matching != 0 => self.map(inner, matching, depth + 1)?,
                container @ (Item::Map(_) | Item::Array(_)) => self.reader.walk(container, &mut Unseen)?,
                scalar if matching != 0 => self.keep(scalar, matching, depth),
                _ => {}
            }
        }
        Ok(())
    }

    fn keep(&mut self, scalar: Item<'a>, matching: Mask, depth: usize) {
        let (text, is_text) = match scalar {
            Item::Text(text) => (text, true),
            Item::Bytes(bytes, later) => (later.text(&bytes).into(), true),
            Item::Bool(value) => (if value { "true" } else { "false" }.into(), false),
            Item::Integer(number) => (number.to_string().into(), false),
            Item::Float(number) => match scalar_text(&Value::Float(number)) {
                Some(text) => (Cow::Owned(text.into_owned()), false),
                None => return,
            },
            Item::Null | Item::Array(_) | Item::Map(_) => return,
        };
        self.found.keep(self.paths, matching, depth, &Scalar { text, is_text });
    }
}
