//! From a file to an index of all that is in it.

use std::{collections::BTreeMap, time::Duration};

use kubestore_kv::{LeaseId, LeaseInfo, Revision};

use crate::{
    Checksum, SnapshotError, SnapshotErrorKind, SnapshotInfo, SnapshotOptions,
    bolt::{Element, Meta, Tree},
    checksum::{self, Extent},
    index::{Index, IndexBuilder},
    record::{LeaseRecord, Record, RevisionKey, big_endian},
    source::Source,
};

/// All that is known of a file.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) info: SnapshotInfo,
    pub(crate) index: Index,
    pub(crate) leases: BTreeMap<LeaseId, LeaseInfo>,
}

/// Reads every page that is in use, once.
pub(crate) fn load(source: &Source, options: &SnapshotOptions) -> Result<Loaded, SnapshotError> {
    let verify = options.checksum == Checksum::Verify;
    let extent = extent(source.size(), verify)?;
    let verified = (verify && extent.checksum).then(|| checksum::verify(source, extent.database));
    let loaded = read(source, extent.database);
    match (verified, loaded) {
        (Some(Err(mismatch)), Err(cause)) if mismatch.kind() == SnapshotErrorKind::ChecksumMismatch => {
            Err(mismatch.with_source(cause))
        }
        (Some(Err(error)), _) | (_, Err(error)) => Err(error),
        (verified, Ok(mut loaded)) => {
            loaded.info.checksum_verified = verified.map(|_| true);
            Ok(loaded)
        }
    }
}

fn extent(size: u64, verify: bool) -> Result<Extent, SnapshotError> {
    match Extent::of(size) {
        Some(extent) => Ok(extent),
        None if !verify => Ok(Extent { database: size, checksum: false }),
        None => {
            let message = format!(
                "a file of {size} bytes is neither a database nor one with its checksum: it was cut, or something was \
                 added; take another copy, or ignore the checksum to read what can be read"
            );
            Err(SnapshotError::new(SnapshotErrorKind::Truncated, message))
        }
    }
}

fn read(source: &Source, database: u64) -> Result<Loaded, SnapshotError> {
    let meta = Meta::find(source, database)?;
    let mut tree = Tree::new(source, meta)?;
    // The buckets are named in one page as a rule, which need not be kept for that.
    let mut buckets: BTreeMap<Vec<u8>, Bucket> = BTreeMap::new();
    tree.root(&mut |element| {
        if element.bucket && matches!(element.key, b"key" | b"meta" | b"lease") {
            buckets.insert(element.key.to_vec(), Bucket::of(element));
        }
        Ok(())
    })?;
    let mut each = |name: &[u8], visit: &mut dyn FnMut(Element<'_>) -> Result<(), SnapshotError>| {
        buckets.get(name).map_or(Ok(()), |bucket| {
            tree.bucket(bucket.element(), &mut |element| {
                if element.bucket {
                    Err(damaged(element, "a bucket where there is none in etcd"))
                } else {
                    visit(element)
                }
            })
        })
    };
    let mut marks = Marks::default();
    each(b"meta", &mut |element| marks.note(element))?;
    let mut leases = BTreeMap::new();
    each(b"lease", &mut |element| note_lease(&mut leases, element))?;
    let (mut builder, mut newest) = (IndexBuilder::default(), 1);
    each(b"key", &mut |element| note_record(&mut builder, &mut newest, element))?;
    if !buckets.contains_key(&b"key"[..]) {
        let message = "this bbolt database has no bucket named key, and so is not one of etcd";
        return Err(SnapshotError::new(SnapshotErrorKind::NotEtcd, message));
    }
    let index = builder.build();
    let info = SnapshotInfo {
        size: source.size(),
        checksum_verified: None,
        page_size: meta.page_size,
        head: Revision(newest.max(marks.compacted)),
        compacted: Revision(marks.compacted),
        keys: 0,
        versions: index.version_count() as u64,
        leases: leases.len() as u64,
        consistent_index: marks.consistent_index,
        term: marks.term,
        storage_version: marks.storage_version,
    };
    Ok(Loaded { info, index, leases })
}

/// Where a bucket is.
#[derive(Debug)]
struct Bucket {
    value: Vec<u8>,
    page: u64,
    at: u64,
}

impl Bucket {
    fn of(element: Element<'_>) -> Self {
        Self { value: element.value.to_vec(), page: element.page, at: element.at }
    }

    fn element(&self) -> Element<'_> {
        Element { key: &[], value: &self.value, bucket: true, page: self.page, at: self.at }
    }
}

/// What etcd has written down about itself.
#[derive(Debug, Default)]
struct Marks {
    /// A compaction counts from the moment it is scheduled, although it may not be finished: etcd finishes it when it
    /// starts.
    compacted: i64,
    consistent_index: Option<u64>,
    term: Option<u64>,
    storage_version: Option<String>,
}

impl Marks {
    fn note(&mut self, element: Element<'_>) -> Result<(), SnapshotError> {
        match element.key {
            b"scheduledCompactRev" | b"finishedCompactRev" => {
                let revision = RevisionKey::parse(element.value);
                let revision = revision.ok_or_else(|| damaged(element, "a compaction at no revision"))?;
                self.compacted = self.compacted.max(revision.main);
            }
            b"consistent_index" => self.consistent_index = Some(number(element)?),
            b"term" => self.term = Some(number(element)?),
            b"storageVersion" => {
                self.storage_version = Some(String::from_utf8_lossy(element.value).into_owned());
            }
            _ => {}
        }
        Ok(())
    }
}

fn number(element: Element<'_>) -> Result<u64, SnapshotError> {
    let number =
        big_endian(element.value).ok_or_else(|| damaged(element, "a number that is not of eight bytes"))?;
    Ok(number.cast_unsigned())
}

fn note_lease(leases: &mut BTreeMap<LeaseId, LeaseInfo>, element: Element<'_>) -> Result<(), SnapshotError> {
    let id = big_endian(element.key).ok_or_else(|| damaged(element, "a lease without its number"))?;
    let lease = LeaseRecord::parse(element.value).ok().filter(|lease| lease.id == id);
    let lease = lease.ok_or_else(|| damaged(element, "what should be a lease is none"))?;
    let remaining = if lease.remaining > 0 { lease.remaining } else { lease.ttl };
    let info = LeaseInfo::new(Duration::from_secs(lease.ttl), Some(Duration::from_secs(remaining)));
    leases.insert(LeaseId(id), info);
    Ok(())
}

fn note_record(
    builder: &mut IndexBuilder,
    newest: &mut i64,
    element: Element<'_>,
) -> Result<(), SnapshotError> {
    let revision =
        RevisionKey::parse(element.key).ok_or_else(|| damaged(element, "a record under no revision"))?;
    let record = Record::parse(element.value).ok().filter(|record| record.belongs_to(revision));
    let record = record.ok_or_else(|| {
        let what = if revision.tombstone { "deletion" } else { "write" };
        damaged(element, format!("the record of revision {} is not that of a {what}", revision.main))
    })?;
    *newest = (*newest).max(revision.main);
    builder.add(record.key, revision, element.at, element.value)
}

fn damaged(element: Element<'_>, what: impl Into<String>) -> SnapshotError {
    SnapshotError::damaged(element.page, element.at, what)
}
