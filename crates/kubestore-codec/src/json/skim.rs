//! Reading a few scalars from a document without building it.

use std::borrow::Cow;

use kubestore_core::Wanted;

use super::{
    cursor::{Cursor, SyntaxError},
    number::{is_in_range, parse_number},
    write::scalar_text,
};
use crate::{
    field::FieldPath,
    value::{MAX_DEPTH, Value},
};

/// What to look for: the answers to a [`Wanted`] and the two members that every object needs.
pub(crate) struct Paths<'w> {
    wanted: &'w Wanted,
    fields: Vec<FieldPath<'w>>,
}

/// One bit for each thing looked for: labels first, then fields, then these.
pub(crate) type Mask = u64;
const KIND: Mask = 1 << 63;
const API_VERSION: Mask = 1 << 62;
const MOST_WANTED: usize = 62;
/// Deeper paths are left to the decoder, since the search recurses along them.
const LONGEST_PATH: usize = 32;

impl<'w> Paths<'w> {
    /// `None` when too much is wanted for a skim.
    pub(crate) fn new(wanted: &'w Wanted) -> Option<Self> {
        let fields: Vec<_> = wanted.fields.iter().map(|path| FieldPath::new(path)).collect();
        let fits = wanted.labels.len() + fields.len() <= MOST_WANTED
            && fields.iter().all(|path| path.segments().count() <= LONGEST_PATH);
        fits.then_some(Self { wanted, fields })
    }

    /// Everything that is looked for.
    pub(crate) fn everything(&self) -> Mask {
        ((1 << (self.wanted.labels.len() + self.fields.len())) - 1) | KIND | API_VERSION
    }

    pub(crate) fn labels(&self) -> Mask {
        (1 << self.wanted.labels.len()) - 1
    }

    /// Those of `candidates` that have `key` at `depth`.
    pub(crate) fn matching(&self, candidates: Mask, depth: usize, key: &str) -> Mask {
        let mut matching = 0;
        let mut rest = candidates;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            rest ^= bit;
            if self.segment(bit, depth) == Some(key) {
                matching |= bit;
            }
        }
        matching
    }

    fn segment(&self, bit: Mask, depth: usize) -> Option<&'w str> {
        let slot = bit.trailing_zeros() as usize;
        match (bit, self.wanted.labels.get(slot)) {
            (KIND, _) => (depth == 0).then_some("kind"),
            (API_VERSION, _) => (depth == 0).then_some("apiVersion"),
            (_, Some(label)) => ["metadata", "labels", label].get(depth).copied(),
            (_, None) => self.fields[slot - self.wanted.labels.len()].segments().nth(depth),
        }
    }
}

/// What was found. Slots are those of [`Wanted`].
pub(crate) struct Skimmed<'a> {
    pub(crate) labels: Vec<Option<Cow<'a, str>>>,
    pub(crate) fields: Vec<Option<Cow<'a, str>>>,
    pub(crate) kind: Option<Cow<'a, str>>,
    pub(crate) api_version: Option<Cow<'a, str>>,
    /// It has `items`, and so is a list.
    pub(crate) has_items: bool,
}

/// A scalar as selectors see it.
pub(crate) struct Scalar<'a> {
    pub(crate) text: Cow<'a, str>,
    /// It is text in the document, not a number or a truth value.
    pub(crate) is_text: bool,
}

impl<'a> Skimmed<'a> {
    pub(crate) fn nothing(paths: &Paths<'_>) -> Self {
        Self {
            labels: vec![None; paths.wanted.labels.len()],
            fields: vec![None; paths.fields.len()],
            kind: None,
            api_version: None,
            has_items: false,
        }
    }

    /// Keeps the text of a scalar for those of `matching` whose path ends at `depth`.
    pub(crate) fn keep(&mut self, paths: &Paths<'_>, matching: Mask, depth: usize, scalar: &Scalar<'a>) {
        let labels = self.labels.len();
        let mut rest = matching;
        while rest != 0 {
            let bit = rest & rest.wrapping_neg();
            rest ^= bit;
            if paths.segment(bit, depth + 1).is_some() {
                continue;
            }
            let slot = bit.trailing_zeros() as usize;
            let place = match bit {
                KIND => Some(&mut self.kind).filter(|_| scalar.is_text),
                API_VERSION => Some(&mut self.api_version).filter(|_| scalar.is_text),
                _ if slot < labels => self.labels.get_mut(slot),
                _ => {
                    let takes = scalar.is_text || !paths.fields[slot - labels].text_only();
                    self.fields.get_mut(slot - labels).filter(|_| takes)
                }
            };
            if let Some(place) = place {
                *place = Some(scalar.text.clone());
            }
        }
    }
}

/// Why there is no answer: the document is no JSON, or it is one that only the decoder reads right.
pub(crate) struct GivenUp;

impl From<SyntaxError> for GivenUp {
    fn from(_: SyntaxError) -> Self {
        Self
    }
}

/// Searches a document, all of which is read and checked.
///
/// Gives up on what is not an object, on a name that is there twice where that matters, and on labels that are not all
/// text.
pub(crate) fn skim<'a>(text: &'a str, paths: &Paths<'_>) -> Result<Skimmed<'a>, GivenUp> {
    let mut search =
        Search { cursor: Cursor::new(text), paths, found: Skimmed::nothing(paths), containers: Vec::new() };
    if search.cursor.peek_token() != Some(b'{') {
        return Err(GivenUp);
    }
    search.object(paths.everything(), 0)?;
    match search.cursor.peek_token() {
        None => Ok(search.found),
        Some(_) => Err(GivenUp),
    }
}

struct Search<'a, 'p> {
    cursor: Cursor<'a>,
    paths: &'p Paths<'p>,
    found: Skimmed<'a>,
    /// The closing brackets to come, inside of a value that is skipped.
    containers: Vec<u8>,
}

impl<'a> Search<'a, '_> {
    /// Reads an object in which something may be found, `depth` objects from the top.
    fn object(&mut self, candidates: Mask, depth: usize) -> Result<(), GivenUp> {
        let all_text = depth == 2 && candidates & self.paths.labels() != 0;
        let mut seen = 0;
        self.cursor.bump();
        if self.cursor.eat(b'}') {
            return Ok(());
        }
        loop {
            let key = self.cursor.key()?;
            self.found.has_items |= depth == 0 && key == "items";
            let matching = self.paths.matching(candidates, depth, &key);
            if seen & matching != 0 || (all_text && self.cursor.peek_token() != Some(b'"')) {
                return Err(GivenUp);
            }
            seen |= matching;
            match self.cursor.peek_token() {
                Some(b'{') if matching != 0 => self.object(matching, depth + 1)?,
                _ if matching == 0 => self.skip(depth + 1)?,
                _ => self.scalar(matching, depth)?,
            }
            if !self.cursor.eat(b',') {
                break;
            }
        }
        if self.cursor.eat(b'}') { Ok(()) } else { Err(GivenUp) }
    }

    /// Reads a value that is no object and keeps it for those whose path ends here.
    fn scalar(&mut self, matching: Mask, depth: usize) -> Result<(), GivenUp> {
        let scalar = match self.cursor.peek_token() {
            Some(b'"') => {
                self.cursor.bump();
                Some(Scalar { text: self.cursor.string()?, is_text: true })
            }
            Some(b'-' | b'0'..=b'9') => {
                let (text, integer) = self.cursor.number()?;
                let number = parse_number(text, integer).ok_or(GivenUp)?;
                scalar_text(&number)
                    .map(|text| Scalar { text: Cow::Owned(text.into_owned()), is_text: false })
            }
            Some(first @ (b't' | b'f')) => {
                let word = if first == b't' { "true" } else { "false" };
                self.cursor.literal(word)?;
                Some(Scalar { text: Cow::Borrowed(word), is_text: false })
            }
            _ => {
                self.skip(depth + 1)?;
                None
            }
        };
        if let Some(scalar) = scalar {
            self.found.keep(self.paths, matching, depth, &scalar);
        }
        Ok(())
    }

    /// Reads and checks any value inside of `depth` containers.
    fn skip(&mut self, depth: usize) -> Result<(), GivenUp> {
        loop {
            let complete = match self.cursor.peek_token() {
                Some(open @ (b'{' | b'[')) => {
                    if depth + self.containers.len() == MAX_DEPTH {
                        return Err(GivenUp);
                    }
                    let close = if open == b'{' { b'}' } else { b']' };
                    self.cursor.bump();
                    if self.cursor.eat(close) {
                        true
                    } else {
                        self.containers.push(close);
                        if close == b'}' {
                            self.cursor.key()?;
                        }
                        false
                    }
                }
                _ => {
                    self.skip_scalar()?;
                    true
                }
            };
            if complete && self.close()? {
                return Ok(());
            }
        }
    }

    /// Reads what follows a value that is skipped: ends of containers, then a comma. Whether everything is closed.
    fn close(&mut self) -> Result<bool, GivenUp> {
        while let Some(&close) = self.containers.last() {
            if self.cursor.eat(b',') {
                if close == b'}' {
                    self.cursor.key()?;
                }
                return Ok(false);
            }
            if !self.cursor.eat(close) {
                return Err(GivenUp);
            }
            self.containers.pop();
        }
        Ok(true)
    }

    fn skip_scalar(&mut self) -> Result<(), GivenUp> {
        match self.cursor.peek_token() {
            Some(b'"') => {
                self.cursor.bump();
                self.cursor.string()?;
            }
            Some(b't') => self.cursor.literal("true")?,
            Some(b'f') => self.cursor.literal("false")?,
            Some(b'n') => self.cursor.literal("null")?,
            _ => {
                let (text, integer) = self.cursor.number()?;
                if !is_in_range(text, integer) {
                    return Err(GivenUp);
                }
            }
        }
        Ok(())
    }
}

/// The text of a scalar at a field path of a decoded object, by the same rules.
pub(crate) fn field_text<'a>(value: &'a Value, path: FieldPath<'_>) -> Option<Cow<'a, str>> {
    match value {
        Value::String(_) => scalar_text(value),
        _ if path.text_only() => None,
        _ => scalar_text(value),
    }
}
