//! One item after the other.

use std::{borrow::Cow, collections::HashSet};

use ciborium_ll::{Decoder, Error, Header};

use super::{
    error::CborError,
    later::Later,
    tagged::{Tagged, Time, integer, moment, normal, refused, short_header},
    time,
};
use crate::{json::go_text, value::MAX_DEPTH};

/// How many members a map may have: the reference's limit.
pub(super) const MAX_MEMBERS: usize = 2_097_152;

/// A part of a document.
#[derive(Debug)]
pub(super) enum Item<'de> {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(Cow<'de, str>),
    /// A byte string that becomes text in another encoding.
    Bytes(Cow<'de, [u8]>, Later),
    Array(Open<'de>),
    Map(Open<'de>),
}

/// A container whose end is still to come.
#[derive(Debug)]
pub(super) struct Open<'de> {
    pub(super) is_map: bool,
    /// `None` when a break ends it.
    left: Option<usize>,
    read: usize,
    pub(super) later: Option<Later>,
    /// The depth outside.
    outside: usize,
    /// Where its keys begin among those of all open maps.
    keys: usize,
    /// All keys, once they were found not to be in order.
    seen: Option<HashSet<Cow<'de, [u8]>>>,
}

impl Open<'_> {
    /// How many members or values may still follow.
    pub(super) fn at_most(&self) -> usize {
        self.left.unwrap_or(0)
    }
}

/// Takes a document apart and refuses what the reference refuses. Memory is used for what is there, never for a length that is
/// merely claimed.
#[derive(Debug)]
pub(super) struct Reader<'de> {
    data: &'de [u8],
    at: usize,
    depth: usize,
    /// The keys of open maps, as long as they are in the order in which the reference writes them: that tells keys that are
    /// there twice without looking them up.
    keys: Vec<Cow<'de, [u8]>>,
    replaced: bool,
}

impl<'de> Reader<'de> {
    pub(super) fn new(data: &'de [u8]) -> Self {
        Self { data, at: 0, depth: 0, keys: Vec::new(), replaced: false }
    }

    /// At which byte the next item begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(super) fn remaining(&self) -> usize {
        self.data.len() - self.at
    }

    /// Whether something that is not UTF-8 was read as U+FFFD.
    pub(super) fn has_replaced(&self) -> bool {
        self.replaced
    }

    /// Ends the document.
    pub(super) fn end(&self) -> Result<(), CborError> {
        if self.at < self.data.len() {
            return Err(CborError::new("something follows the value", self.at));
        }
        Ok(())
    }

    /// The next item, inside of something for whose byte strings `later` counts.
    pub(super) fn item(&mut self, later: Option<Later>) -> Result<Item<'de>, CborError> {
        let tagged = self.tags(later)?;
        let start = tagged.start;
        Ok(match tagged.header {
            Header::Positive(_) | Header::Negative(_) => {
                let number = integer(tagged.header)
                    .ok_or_else(|| CborError::new("an integer beyond 64 bits with a sign", start))?;
                match tagged.time {
                    Some(_) => Item::Text(moment(time::of_seconds(number, 0), start)?),
                    None => Item::Integer(number),
                }
            }
            Header::Float(number) if tagged.time.is_some() => {
                Item::Text(moment(time::of_float(number), start)?)
            }
            Header::Float(number) => Item::Float(number),
            Header::Simple(20) => Item::Bool(false),
            Header::Simple(21) => Item::Bool(true),
            Header::Simple(22) => Item::Null,
            Header::Bytes(length) => {
                let bytes = self.string(length, false, start)?;
                match tagged.later {
                    Some(later) => Item::Bytes(bytes, later),
                    None => Item::Text(self.text(bytes)),
                }
            }
            Header::Text(length) => {
                let text = self.string(length, true, start)?;
                let text = self.text(text);
                Item::Text(if tagged.time.is_some() { normal(text, start)? } else { text })
            }
            Header::Array(length) => Item::Array(self.open(false, length, &tagged)?),
            Header::Map(length) => Item::Map(self.open(true, length, &tagged)?),
            other => return Err(refused(other, start)),
        })
    }

    /// The next key of a map; `None` at its end.
    pub(super) fn key(&mut self, map: &mut Open<'de>) -> Result<Option<Cow<'de, str>>, CborError> {
        if !self.more(map)? {
            return Ok(None);
        }
        if map.read > MAX_MEMBERS {
            return Err(CborError::new(format!("more than {MAX_MEMBERS} members"), self.at));
        }
        let tagged = self.tags(map.later)?;
        let start = tagged.start;
        let key = match tagged.header {
            Header::Bytes(length) => {
                let bytes = self.string(length, false, start)?;
                match tagged.later {
                    Some(later) => Cow::Owned(later.text(&bytes).into_bytes()),
                    None => bytes,
                }
            }
            Header::Text(length) => self.string(length, true, start)?,
            // The reference leaves the key as it was, which is empty at first and the one before from then on.
            Header::Simple(22) if map.read == 1 => Cow::Borrowed(&b""[..]),
            _ => return Err(CborError::new("a key that is not text", start)),
        };
        if !self.is_new(map, key.clone()) {
            return Err(CborError::new("a key that its map has already", start));
        }
        Ok(Some(self.text(key)))
    }

    /// Whether another value of an array, or another key of a map, follows. At the end of a container it is closed.
    pub(super) fn more(&mut self, open: &mut Open<'de>) -> Result<bool, CborError> {
        let ends = match open.left {
            Some(left) => left == 0,
            None => self.data.get(self.at) == Some(&BREAK),
        };
        if !ends {
            open.left = open.left.map(|left| left - 1);
            open.read += 1;
            return Ok(true);
        }
        if open.left.is_none() {
            self.at += 1;
            open.left = Some(0);
        }
        self.depth = open.outside;
        self.keys.truncate(open.keys);
        Ok(false)
    }

    /// Shows everything up to the end of an item that was begun, without recursion.
    pub(super) fn walk(&mut self, first: Item<'de>, seen: &mut impl Visit<'de>) -> Result<(), CborError> {
        let mut open: Vec<Open<'de>> = Vec::new();
        let mut item = first;
        loop {
            match item {
                Item::Array(array) => {
                    seen.begin(false);
                    open.push(array);
                }
                Item::Map(map) => {
                    seen.begin(true);
                    open.push(map);
                }
                scalar => seen.scalar(scalar),
            }
            let later = loop {
                let Some(innermost) = open.last_mut() else { return Ok(()) };
                let goes_on = if innermost.is_map {
                    self.key(innermost)?.map(|key| seen.key(key)).is_some()
                } else {
                    self.more(innermost)?
                };
                if goes_on {
                    break innermost.later;
                }
                open.pop();
                seen.end();
            };
            item = self.item(later)?;
        }
    }

    /// Reads and checks an item.
    pub(super) fn skip(&mut self, later: Option<Later>) -> Result<(), CborError> {
        let first = self.item(later)?;
        self.walk(first, &mut Unseen)
    }

    #[inline]
    fn header(&mut self) -> Result<Header, CborError> {
        // Nearly all headers are one byte, which is cheaper than a decoder.
        if let Some(header) = self.data.get(self.at).and_then(|byte| short_header(*byte)) {
            self.at += 1;
            return Ok(header);
        }
        self.long_header()
    }

    #[inline(never)]
    fn long_header(&mut self) -> Result<Header, CborError> {
        let start = self.at;
        let rest = self.data.get(start..).unwrap_or_default();
        let mut decoder = Decoder::from(rest);
        let header = decoder.pull().map_err(|error| match error {
            Error::Io(_) => self.unexpected_end(),
            Error::Syntax(_) => CborError::new("no CBOR item begins", start),
        })?;
        self.at += decoder.offset();
        match header {
            // These have no form of two bytes.
            Header::Simple(0..32) if rest.first() == Some(&0xf8) => {
                Err(CborError::new("no CBOR item begins", start))
            }
            Header::Float(number) if !number.is_finite() => {
                Err(CborError::new("a float that is not a finite number", start))
            }
            header => Ok(header),
        }
    }

    /// Reads tags and the header of what they are about.
    #[inline]
    fn tags(&mut self, later: Option<Later>) -> Result<Tagged, CborError> {
        let start = self.at;
        let header = self.header()?;
        let untagged = Tagged { header, start, later, time: None, more_tags: 0 };
        if matches!(header, Header::Tag(_)) { self.more_tags(untagged) } else { Ok(untagged) }
    }

    fn more_tags(&mut self, mut tagged: Tagged) -> Result<Tagged, CborError> {
        let mut first = true;
        while let Header::Tag(tag) = tagged.header {
            let start = tagged.start;
            // As in the reference, every tag but the first counts as a level.
            tagged.more_tags += usize::from(!first);
            first = false;
            self.check_depth(tagged.more_tags, start)?;
            match tag {
                0 => tagged.time = Some(Time::Text),
                1 => tagged.time = Some(Time::Number),
                2 | 3 => return Err(CborError::new("a number of any length (tag 2 or 3)", start)),
                _ => tagged.later = Later::of_tag(tag).or(tagged.later),
            }
            tagged.start = self.at;
            tagged.header = self.header()?;
            if let Some(time) = tagged.time {
                time.check(tagged.header, tagged.start)?;
            }
        }
        Ok(tagged)
    }

    fn open(&mut self, is_map: bool, length: Option<usize>, tagged: &Tagged) -> Result<Open<'de>, CborError> {
        self.check_depth(tagged.more_tags + 1, tagged.start)?;
        let outside = self.depth;
        self.depth += tagged.more_tags + 1;
        Ok(Open {
            is_map,
            left: length,
            read: 0,
            later: tagged.later,
            outside,
            keys: self.keys.len(),
            seen: None,
        })
    }

    fn check_depth(&self, more: usize, at: usize) -> Result<(), CborError> {
        if self.depth + more > MAX_DEPTH {
            return Err(CborError::new(format!("nested deeper than {MAX_DEPTH} levels"), at));
        }
        Ok(())
    }

    /// The content of a byte or text string whose header was read.
    fn string(
        &mut self,
        length: Option<usize>,
        is_text: bool,
        start: usize,
    ) -> Result<Cow<'de, [u8]>, CborError> {
        let Some(length) = length else { return self.chunks(is_text) };
        let bytes = self.data[self.at..].get(..length).ok_or_else(|| self.unexpected_end())?;
        if is_text && std::str::from_utf8(bytes).is_err() {
            return Err(CborError::new("text that is not UTF-8", start));
        }
        self.at += length;
        Ok(Cow::Borrowed(bytes))
    }

    /// The pieces of a string up to the break.
    fn chunks(&mut self, is_text: bool) -> Result<Cow<'de, [u8]>, CborError> {
        let mut whole = Vec::new();
        loop {
            let start = self.at;
            match self.header()? {
                Header::Break => return Ok(Cow::Owned(whole)),
                Header::Bytes(length @ Some(_)) if !is_text => {
                    whole.extend_from_slice(&self.string(length, is_text, start)?);
                }
                Header::Text(length @ Some(_)) if is_text => {
                    whole.extend_from_slice(&self.string(length, is_text, start)?);
                }
                _ => return Err(CborError::new("a piece of another type than its string", start)),
            }
        }
    }

    /// Byte strings stand for text and need not be UTF-8.
    fn text(&mut self, bytes: Cow<'de, [u8]>) -> Cow<'de, str> {
        match bytes {
            Cow::Borrowed(bytes) => {
                let text = go_text(bytes);
                self.replaced |= matches!(text, Cow::Owned(_));
                text
            }
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|error| {
                self.replaced = true;
                go_text(error.as_bytes()).into_owned()
            })),
        }
    }

    /// Takes note of a key; whether the map did not have it yet.
    fn is_new(&mut self, map: &mut Open<'de>, key: Cow<'de, [u8]>) -> bool {
        if let Some(seen) = &mut map.seen {
            return seen.insert(key);
        }
        let before = self.keys[map.keys..].last();
        if before.is_some_and(|before| (before.len(), &**before) >= (key.len(), &*key)) {
            let seen = map.seen.insert(self.keys.drain(map.keys..).collect());
            return seen.insert(key);
        }
        self.keys.push(key);
        true
    }

    fn unexpected_end(&self) -> CborError {
        CborError::new("unexpected end", self.data.len())
    }
}

/// Is shown a document, part by part.
pub(super) trait Visit<'de> {
    fn begin(&mut self, is_map: bool);
    fn key(&mut self, key: Cow<'de, str>);
    fn scalar(&mut self, item: Item<'de>);
    fn end(&mut self);
}

/// For what is only checked.
pub(super) struct Unseen;

impl<'de> Visit<'de> for Unseen {
    fn begin(&mut self, _: bool) {}
    fn key(&mut self, _: Cow<'de, str>) {}
    fn scalar(&mut self, _: Item<'de>) {}
    fn end(&mut self) {}
}

const BREAK: u8 = 0xff;
