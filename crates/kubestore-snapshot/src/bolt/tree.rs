//! A tree of pages, walked from its first key to its last.

use bytes::Bytes;

use super::{
    Element, Meta,
    page::{HEADER, Header, Page, le_u64},
};
use crate::{SnapshotError, SnapshotErrorKind, source::Source};

/// The most bytes of a page with those that belong to it. etcd refuses requests of a hundredth of it by default.
const LARGEST_PAGE: u64 = 256 << 20;
/// The deepest tree. A tree of etcd has four levels or five.
const DEEPEST: usize = 32;

/// What hears of every element.
pub(crate) type Visit<'v> = dyn FnMut(Element<'_>) -> Result<(), SnapshotError> + 'v;

/// All trees of a file. No page is read twice, so that no walk is endless and no more is read than there is.
#[derive(Debug)]
pub(crate) struct Tree<'s> {
    source: &'s Source,
    meta: Meta,
    /// One bit a page.
    read: Vec<u64>,
}

/// Up to where the keys have come.
#[derive(Debug, Default)]
struct Last {
    key: Vec<u8>,
    /// Whether this key was an element: the next one must be greater. Else it may be the same.
    taken: bool,
}

impl<'s> Tree<'s> {
    pub(crate) fn new(source: &'s Source, meta: Meta) -> Result<Self, SnapshotError> {
        let words = usize::try_from(meta.pages / 64 + 1).map_err(|_| too_large("the file"))?;
        Ok(Self { source, meta, read: vec![0; words] })
    }

    /// The elements of the bucket of buckets.
    pub(crate) fn root(&mut self, visit: &mut Visit<'_>) -> Result<(), SnapshotError> {
        let (root, at) = (self.meta.root, 0);
        self.node(root, 0, at, 0, &mut Last::default(), visit)
    }

    /// The elements of a bucket, given as its element.
    pub(crate) fn bucket(&mut self, bucket: Element<'_>, visit: &mut Visit<'_>) -> Result<(), SnapshotError> {
        let damaged = |what| SnapshotError::damaged(bucket.page, bucket.at, what);
        if bucket.value.len() < 16 {
            return Err(damaged("a bucket without its head"));
        }
        let root = le_u64(bucket.value, 0);
        if root != 0 {
            return self.node(root, bucket.page, bucket.at, 0, &mut Last::default(), visit);
        }
        // A small bucket is a page within the value.
        let inline = Bytes::copy_from_slice(&bucket.value[16..]);
        let header = Header::parse(&inline).ok_or_else(|| damaged("a bucket without its page"))?;
        let page = Page::new(bucket.page, bucket.at + 16, header, inline)?;
        if page.is_branch() || header.overflow > 0 {
            return Err(damaged("a bucket within a value that is larger than its page"));
        }
        leaf(&page, &mut Last::default(), visit)
    }

    /// The elements under a page that another page, or the beginning of the file, names at `at`.
    fn node(
        &mut self,
        id: u64,
        named_by: u64,
        at: u64,
        depth: usize,
        last: &mut Last,
        visit: &mut Visit<'_>,
    ) -> Result<(), SnapshotError> {
        if depth > DEEPEST {
            return Err(SnapshotError::damaged(
                named_by,
                at,
                format!("the tree is deeper than {DEEPEST} pages"),
            ));
        }
        let page = self.page(id, named_by, at)?;
        if !page.is_branch() {
            return leaf(&page, last, visit);
        }
        let mut children = 0;
        for child in page.children() {
            let child = child?;
            last.advance(child.key, false).map_err(|what| SnapshotError::damaged(id, child.at, what))?;
            self.node(child.page, id, child.at, depth + 1, last, visit)?;
            children += 1;
        }
        if children == 0 { Err(page.damaged(10, "a page of branches without one")) } else { Ok(()) }
    }

    /// A page with those that belong to it.
    fn page(&mut self, id: u64, named_by: u64, named_at: u64) -> Result<Page, SnapshotError> {
        if !(2..self.meta.pages).contains(&id) {
            let message = format!("page {id} is named, and the file has pages 2 to {}", self.meta.pages - 1);
            return Err(SnapshotError::damaged(named_by, named_at, message));
        }
        let size = u64::from(self.meta.page_size);
        let at = id * size;
        let damaged = |offset, what: String| SnapshotError::damaged(id, at + offset, what);
        let first =
            self.source.read(at, self.meta.page_size as usize).map_err(|error| error.at(Some(id), at))?;
        let Some(header) = Header::parse(&first) else {
            return Err(damaged(0, "a page without its head".into()));
        };
        if header.id != id {
            return Err(damaged(0, format!("the page says that it is page {}", header.id)));
        }
        let end = id + 1 + u64::from(header.overflow);
        if end > self.meta.pages {
            let more = header.overflow;
            return Err(damaged(12, format!("{more} more pages belong to it, beyond the end of the file")));
        }
        for page in id..end {
            if !self.mark(page) {
                return Err(damaged(0, format!("page {page} belongs to two others")));
            }
        }
        let length = (end - id) * size;
        if length > LARGEST_PAGE {
            return Err(too_large("a page with what belongs to it").at(Some(id), at));
        }
        let bytes = if header.overflow == 0 {
            first
        } else {
            let length = usize::try_from(length).map_err(|_| too_large("a page"))?;
            self.source.read(at, length)?
        };
        debug_assert!(bytes.len() >= HEADER, "a page is larger than its head");
        Page::new(id, at, header, bytes)
    }

    /// False if it was marked before.
    fn mark(&mut self, page: u64) -> bool {
        let Ok(word) = usize::try_from(page / 64) else { return false };
        let bit = 1 << (page % 64);
        let Some(word) = self.read.get_mut(word) else { return false };
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }
}

fn leaf(page: &Page, last: &mut Last, visit: &mut Visit<'_>) -> Result<(), SnapshotError> {
    for element in page.elements() {
        let element = element?;
        last.advance(element.key, true).map_err(|what| SnapshotError::damaged(page.id, element.at, what))?;
        visit(element)?;
    }
    Ok(())
}

impl Last {
    /// Keys ascend; one that a branch names may be that of its first element, and of the branch below.
    fn advance(&mut self, key: &[u8], taken: bool) -> Result<(), &'static str> {
        let ascends = if self.taken { key > self.key.as_slice() } else { key >= self.key.as_slice() };
        if !ascends {
            return Err("the keys are out of order");
        }
        self.key.clear();
        self.key.extend_from_slice(key);
        self.taken = taken;
        Ok(())
    }
}

fn too_large(what: &str) -> SnapshotError {
    SnapshotError::new(SnapshotErrorKind::TooLarge, format!("{what} is larger than this reader takes"))
}
