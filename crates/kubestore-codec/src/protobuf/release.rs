//! Versions of Kubernetes, as far as they print and write the same object differently.

/// A version of Kubernetes by its minor number: what its API server prints, and what it writes.
///
/// Two things differ. Before 1.34 an object without a creation time has `"creationTimestamp": null`. And a version writes
/// the fields that it knows and that are no pointers in Go even where they are zero, so that a later one writes a few bytes
/// more for the same object. The default is [`LATEST`](Self::LATEST).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(u8);

impl Release {
    /// The last version whose kinds are known here: 1.37.
    pub const LATEST: Self = Self(37);

    /// Kubernetes 1.`minor`. The fields that came with 1.32 and later are known, so that every version before counts as 1.31.
    #[must_use]
    pub const fn of_minor(minor: u8) -> Self {
        Self(minor)
    }

    /// Whether it has what came with this minor version.
    pub(super) fn has(self, since: u8) -> bool {
        self.0 >= since
    }

    /// Whether it leaves out what Go's omitzero is for.
    pub(super) fn omits_zero(self) -> bool {
        self.0 >= 34
    }
}

impl Default for Release {
    fn default() -> Self {
        Self::LATEST
    }
}
