//! What a value is bound to.

/// Where a value is stored.
///
/// The full etcd key is the data that AES-GCM authenticates besides the value, so that a value moved to another key
/// does not open there.
#[derive(Clone, Copy, Debug)]
pub struct ValueContext<'a> {
    key: &'a [u8],
}

impl<'a> ValueContext<'a> {
    /// The value under `key`: the whole key as etcd has it, with every prefix.
    #[must_use]
    pub const fn new(key: &'a [u8]) -> Self {
        Self { key }
    }

    /// The bytes that are authenticated with the value.
    #[must_use]
    pub const fn authenticated_data(&self) -> &'a [u8] {
        self.key
    }
}
