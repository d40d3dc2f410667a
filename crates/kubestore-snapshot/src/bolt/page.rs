//! One page, or several that are one, and what is in it.

use bytes::Bytes;

use crate::SnapshotError;

/// Bytes before the elements: number, kind, count, how many pages follow.
pub(super) const HEADER: usize = 16;
/// Bytes of what tells where an element's key and value are.
const ELEMENT: usize = 16;

const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
const META: u16 = 0x04;
/// Marks a leaf's element as a bucket.
const BUCKET: u32 = 0x01;

/// The head of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) id: u64,
    flags: u16,
    count: u16,
    /// Pages that belong to this one.
    pub(super) overflow: u32,
}

/// A page with those that belong to it.
#[derive(Debug)]
pub(super) struct Page {
    /// Its number, or of one within another that of the other.
    pub(super) id: u64,
    /// Where in the file it begins.
    pub(super) at: u64,
    pub(super) header: Header,
    bytes: Bytes,
}

/// A key and its value, in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
    /// Whether the value is a bucket.
    pub(crate) bucket: bool,
    /// The page that it is in.
    pub(crate) page: u64,
    /// Where in the file the value is.
    pub(crate) at: u64,
}

/// A key and the page where the keys from it on are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child<'a> {
    pub(super) key: &'a [u8],
    pub(super) page: u64,
    /// Where in the file this is said.
    pub(super) at: u64,
}

impl Header {
    /// None if there is not even a head.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..HEADER)?;
        Some(Self {
            id: le_u64(bytes, 0),
            flags: le_u16(bytes, 8),
            count: le_u16(bytes, 10),
            overflow: le_u32(bytes, 12),
        })
    }
}

impl Page {
    pub(super) fn new(id: u64, at: u64, header: Header, bytes: Bytes) -> Result<Self, SnapshotError> {
        let page = Self { id, at, header, bytes };
        if !matches!(header.flags, BRANCH | LEAF) {
            return Err(
                page.damaged(8, format!("the page is of kind {:#x} where keys should be", header.flags))
            );
        }
        if page.data() > page.bytes.len() {
            return Err(page.damaged(10, format!("{} elements do not fit into the page", header.count)));
        }
        Ok(page)
    }

    pub(super) fn is_branch(&self) -> bool {
        self.header.flags == BRANCH
    }

    pub(super) fn children(&self) -> impl Iterator<Item = Result<Child<'_>, SnapshotError>> {
        let mut floor = self.data();
        (0..usize::from(self.header.count)).map(move |number| {
            let element = HEADER + number * ELEMENT;
            let [position, key] = [0, 4].map(|field| le_u32(&self.bytes, element + field) as usize);
            let key = self.part(element, position, key, &mut floor)?;
            let at = self.at + element as u64;
            Ok(Child { key, page: le_u64(&self.bytes, element + 8), at })
        })
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = Result<Element<'_>, SnapshotError>> {
        let mut floor = self.data();
        (0..usize::from(self.header.count)).map(move |number| {
            let element = HEADER + number * ELEMENT;
            let flags = le_u32(&self.bytes, element);
            if flags & !BUCKET != 0 {
                return Err(self.damaged(element, format!("element {number} is of kind {flags:#x}")));
            }
            let [position, key, value] =
                [4, 8, 12].map(|field| le_u32(&self.bytes, element + field) as usize);
            let key = self.part(element, position, key, &mut floor)?;
            let at = self.at + floor as u64;
            let value = self.part(element, floor - element, value, &mut floor)?;
            Ok(Element { key, value, bucket: flags == BUCKET, page: self.id, at })
        })
    }

    /// Where keys and values begin.
    fn data(&self) -> usize {
        HEADER + usize::from(self.header.count) * ELEMENT
    }

    /// What an element says that is `position` behind itself. Keys and values lie in the order of their elements, one after
    /// the other; with that they cannot be said to be more than there is.
    fn part(
        &self,
        element: usize,
        position: usize,
        len: usize,
        floor: &mut usize,
    ) -> Result<&[u8], SnapshotError> {
        let start = element + position;
        if start < *floor {
            return Err(self.damaged(element, "an element lies over another one"));
        }
        let end = start.saturating_add(len);
        let part = self.bytes.get(start..end);
        *floor = end;
        part.ok_or_else(|| self.damaged(element, "an element reaches beyond its page"))
    }

    pub(super) fn damaged(&self, offset: usize, what: impl Into<String>) -> SnapshotError {
        SnapshotError::damaged(self.id, self.at + offset as u64, what)
    }
}

pub(super) fn is_meta(bytes: &[u8]) -> bool {
    Header::parse(bytes).is_some_and(|header| header.flags == META)
}

fn le_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn le_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from(le_u16(bytes, at)) | u32::from(le_u16(bytes, at + 2)) << 16
}

pub(super) fn le_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from(le_u32(bytes, at)) | u64::from(le_u32(bytes, at + 4)) << 32
}
