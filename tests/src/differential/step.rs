//! What is done.

/// One step, in terms that mean the same on every backend: revisions count from where the run began, leases and watches have
/// the numbers in which they were made.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Put {
        key: Vec<u8>,
        value: Value,
        expect: Expected,
        lease: Option<Leased>,
        shows: bool,
    },
    Delete {
        key: Vec<u8>,
        expect: Expected,
        shows: bool,
    },
    Get {
        key: Vec<u8>,
        at: Option<i64>,
    },
    List {
        range: Range,
        parts: bool,
    },
    Count {
        prefix: Vec<u8>,
    },
    Grant {
        seconds: u64,
    },
    Revoke {
        lease: Leased,
    },
    LeaseInfo {
        lease: Leased,
    },
    Compact {
        to: i64,
    },
    Watch {
        target: Target,
        start: Option<i64>,
        previous: bool,
    },
    /// All that the watches have to tell.
    Tell,
    Unwatch {
        watch: usize,
    },
    Status,
}

/// Bytes to put.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) number: u64,
    /// In bytes, at least those of the number.
    pub(super) size: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Expected {
    /// 0 is no key.
    Revision(i64),
    Version(i64),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Leased {
    /// The one granted as this number.
    Number(usize),
    /// One that never was.
    Unknown,
}

#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) prefix: Vec<u8>,
    pub(super) start: Option<Vec<u8>>,
    pub(super) at: Option<i64>,
    pub(super) limit: u64,
    pub(super) keys_only: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Target {
    Key(Vec<u8>),
    Prefix(Vec<u8>),
}
