//! Keys, values and the revisions that date them.

use std::fmt;

use bytes::Bytes;

/// The point in a backend's history that a write made: etcd's int64, counting from 1 and up by one for each
/// transaction that wrote.
///
/// Kubernetes' resource version is the same number as text; that view is made above this crate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub i64);

impl Revision {
    /// The revision right after this one, where a watch goes on.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A lease's number, chosen by the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub i64);

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// One key as it stood at some revision.
///
/// `Debug` shows the length of the value, never its bytes: they may be somebody's secret.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq)]
pub struct KeyValue {
    /// The whole key, path prefix included.
    pub key: Bytes,
    /// The bytes as written, still as the transformer left them. Empty in a key-only list.
    pub value: Bytes,
    /// The write that created the key, after its last deletion.
    pub create_revision: Revision,
    /// The last write of the key.
    pub mod_revision: Revision,
    /// Writes since the key was created, from 1.
    pub version: i64,
    /// The lease the key ends with, if any.
    pub lease: Option<LeaseId>,
}

impl KeyValue {
    /// A key-value pair first written at `revision`, without a lease.
    #[must_use]
    pub fn new(key: impl Into<Bytes>, value: impl Into<Bytes>, revision: Revision) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            create_revision: revision,
            mod_revision: revision,
            version: 1,
            lease: None,
        }
    }
}

impl fmt::Debug for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyValue")
            .field("key", &self.key)
            .field("value_len", &self.value.len())
            .field("create_revision", &self.create_revision.0)
            .field("mod_revision", &self.mod_revision.0)
            .field("version", &self.version)
            .field("lease", &self.lease)
            .finish()
    }
}

/// The first key after all keys that begin with `prefix`, or `None` when there is no such key (the prefix is empty
/// or all `0xff`): the range then goes to the end of the key space.
///
/// ```
/// # use kubestore_kv::prefix_end;
/// assert_eq!(prefix_end(b"/pods/").as_deref(), Some(&b"/pods0"[..]));
/// assert_eq!(prefix_end(b"a\xff").as_deref(), Some(&b"b"[..]));
/// assert_eq!(prefix_end(b"\xff\xff"), None);
/// ```
#[must_use]
pub fn prefix_end(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|byte| *byte < 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end.into())
}
