//! How a file is opened.

/// How a file is opened.
#[derive(Clone, Debug, Default)]
pub struct SnapshotOptions {
    pub(crate) checksum: Checksum,
}

/// What to do about the checksum at the end of a snapshot.
///
/// Pages and records have none of their own: without this one, damage within a stored value goes unnoticed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// Refuse a file whose checksum is wrong, or whose length is neither that of a database nor that of one with a
    /// checksum. A database without a checksum is taken.
    #[default]
    Verify,
    /// Read what can be read. What the pages themselves give away is still an error.
    Ignore,
}

impl SnapshotOptions {
    /// What to do about the checksum; [`Checksum::Verify`] by default.
    #[must_use]
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = checksum;
        self
    }
}
