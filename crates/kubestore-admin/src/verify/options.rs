//! How a check is done.

use std::{num::NonZeroUsize, sync::Arc, thread, time::Duration};

use bytes::Bytes;

use super::contents::Contents;
use crate::{job_options::job_options, progress::Observer};

/// How a check is done.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    pub(super) concurrency: usize,
    pub(super) contents: Contents,
    pub(super) observer: Observer,
    pub(super) retry_for: Duration,
}

impl VerifyOptions {
    /// How many parts are opened at once, each of some hundred values; as many as there are processors by default, and at
    /// least one.
    #[must_use]
    pub fn concurrency(mut self, parts: usize) -> Self {
        self.concurrency = parts.max(1);
        self
    }

    /// Whether what opens must also be an object of Kubernetes in JSON, protobuf or CBOR, which is decoded; not by default.
    #[must_use]
    pub fn check_contents(mut self, on: bool) -> Self {
        self.contents = if on { Contents::Objects } else { Contents::Any };
        self
    }

    /// Has `decode` say of each key, and of the bytes that were opened, whether they are in order, and if not why. It is
    /// in place of [`check_contents`](Self::check_contents), and must not quote the bytes: what it says is in the report.
    #[must_use]
    pub fn decode_with(
        mut self,
        decode: impl Fn(&[u8], &Bytes) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.contents = Contents::Decoded(Arc::new(decode));
        self
    }
}

job_options!(VerifyOptions, " after every part");

impl Default for VerifyOptions {
    fn default() -> Self {
        Self {
            concurrency: thread::available_parallelism().map_or(1, NonZeroUsize::get),
            contents: Contents::default(),
            observer: Observer::default(),
            retry_for: crate::retry::PATIENCE,
        }
    }
}
