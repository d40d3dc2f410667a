//! The two pages at the beginning, of which the newer valid one says where everything else is.

use std::ops::RangeInclusive;

use super::page::{self, HEADER, le_u32, le_u64};
use crate::{SnapshotError, SnapshotErrorKind, source::Source};

const MAGIC: u32 = 0xed0c_daed;
const VERSION: u32 = 2;
/// Bytes of what follows the page's header, the checksum included.
const LENGTH: usize = 64;
/// What is taken for the size of a page: that of the operating system which wrote it, as a rule.
const PAGE_SIZES: RangeInclusive<u32> = 1 << 10..=1 << 24;

/// Where everything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) page_size: u32,
    /// The page where the bucket of buckets begins.
    pub(crate) root: u64,
    /// The first page that was never used.
    pub(crate) pages: u64,
    transaction: u64,
}

/// Why a page is not taken.
enum Refusal {
    /// It has nothing of a meta page.
    Foreign,
    Version(u32),
    Checksum,
    PageSize(u32),
    /// The file ends before it.
    Missing,
}

impl Meta {
    /// Reads both pages, takes the newer one that is valid, and checks that the file is as long as it says.
    pub(crate) fn find(source: &Source, database: u64) -> Result<Self, SnapshotError> {
        let first = Self::read(source, 0, database);
        let second = match &first {
            Ok(meta) => Self::read(source, meta.page_size.into(), database),
            Err(_) => Self::search(source, database),
        };
        let meta = match (first, second) {
            (Ok(first), Ok(second)) if second.transaction > first.transaction => second,
            (Ok(meta), _) | (Err(_), Ok(meta)) => meta,
            (Err(first), Err(_)) => return Err(first.error()),
        };
        let needed = meta.pages.checked_mul(meta.page_size.into());
        if needed.is_none_or(|needed| needed > database) {
            let has = database / u64::from(meta.page_size);
            let message = format!(
                "the file is cut short: it has {has} whole pages of {} where its beginning tells of {}; take another \
                 copy",
                meta.page_size, meta.pages
            );
            return Err(SnapshotError::new(SnapshotErrorKind::Truncated, message).at(Some(has), database));
        }
        Ok(meta)
    }

    /// The second page wherever it may be: how long the first one is, is not known.
    fn search(source: &Source, database: u64) -> Result<Self, Refusal> {
        let (smallest, largest) = PAGE_SIZES.into_inner();
        let sizes = (smallest.ilog2()..=largest.ilog2()).map(|power| 1_u32 << power);
        let mut found = sizes.map(|size| (size, Self::read(source, size.into(), database)));
        found.find_map(|(size, meta)| meta.ok().filter(|meta| meta.page_size == size)).ok_or(Refusal::Foreign)
    }

    fn read(source: &Source, at: u64, database: u64) -> Result<Self, Refusal> {
        if at + (HEADER + LENGTH) as u64 > database {
            return Err(Refusal::Missing);
        }
        let bytes = source.read(at, HEADER + LENGTH).map_err(|_| Refusal::Missing)?;
        let body = &bytes[HEADER..];
        if le_u32(body, 0) != MAGIC || !page::is_meta(&bytes) {
            return Err(Refusal::Foreign);
        }
        let (version, page_size) = (le_u32(body, 4), le_u32(body, 8));
        if version != VERSION {
            return Err(Refusal::Version(version));
        }
        if le_u64(body, 56) != fnv64a(&body[..56]) {
            return Err(Refusal::Checksum);
        }
        if !PAGE_SIZES.contains(&page_size) || !page_size.is_power_of_two() {
            return Err(Refusal::PageSize(page_size));
        }
        let (root, pages, transaction) = (le_u64(body, 16), le_u64(body, 40), le_u64(body, 48));
        Ok(Self { page_size, root, pages, transaction })
    }
}

impl Refusal {
    fn error(self) -> SnapshotError {
        let (kind, message) = match self {
            Self::Foreign => (
                SnapshotErrorKind::NotEtcd,
                "this is no etcd database: name a file of `etcdctl snapshot save` or a `member/snap/db`"
                    .to_owned(),
            ),
            Self::Missing => (
                SnapshotErrorKind::Truncated,
                "the file is shorter than the beginning of an etcd database; take another copy".to_owned(),
            ),
            Self::Version(version) => (
                SnapshotErrorKind::NotEtcd,
                format!("the database has format {version}, and this reader knows {VERSION}"),
            ),
            Self::Checksum => (
                SnapshotErrorKind::Damaged,
                "neither of the two first pages has a right checksum; take another copy".to_owned(),
            ),
            Self::PageSize(size) => (SnapshotErrorKind::Damaged, format!("{size} is no size of a page")),
        };
        SnapshotError::new(kind, message).at(Some(0), 0)
    }
}

fn fnv64a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv64a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv64a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
