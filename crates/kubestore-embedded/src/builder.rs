//! How an engine is set up.

use std::{sync::Arc, time::Duration};

use kubestore_kv::{Clock, DEFAULT_MAX_REQUEST_BYTES, SystemClock};

use crate::{Embedded, engine::Options};

/// Settings of an [`Embedded`] engine, all of them with etcd's defaults.
#[derive(Clone, Debug)]
#[must_use]
pub struct EmbeddedBuilder {
    options: Options,
}

/// What a table takes that is written from memory: the first thing to be done on a full disk.
const DEFAULT_RESERVE_BYTES: u64 = 32 << 20;

impl EmbeddedBuilder {
    pub(crate) fn new() -> Self {
        let options = Options {
            clock: Arc::new(SystemClock),
            max_request_bytes: DEFAULT_MAX_REQUEST_BYTES,
            progress_interval: Duration::from_secs(600),
            reserve_bytes: DEFAULT_RESERVE_BYTES,
        };
        Self { options }
    }

    /// Where the time comes from: deadlines of leases, and progress from time to time. Default: [`SystemClock`].
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.options.clock = clock;
        self
    }

    /// The largest write taken, in bytes, measured as etcd would: about the value, two or three times the key, and 64
    /// more. A larger one is refused as [`TooLarge`](kubestore_kv::KvErrorKind::TooLarge). Default:
    /// [`DEFAULT_MAX_REQUEST_BYTES`].
    pub fn max_request_bytes(mut self, bytes: usize) -> Self {
        self.options.max_request_bytes = bytes;
        self
    }

    /// How long a watch with [`progress_notify`](kubestore_kv::WatchRequest::progress_notify) stays silent before it
    /// tells its progress by itself. Default: 10 minutes.
    pub fn progress_interval(mut self, interval: Duration) -> Self {
        self.options.progress_interval = interval;
        self
    }

    /// Room on the disk that is held back from puts and leases, in bytes, so that deletions and compaction still work
    /// when it is full. It is a file of that size in the directory. When others fill the disk it is given up for them, and
    /// while it cannot be made again, puts and leases are refused as [`NoSpace`](kubestore_kv::KvErrorKind::NoSpace).
    /// They are, too, while less is free than rewriting the tables may take: what is deleted would not come back.
    ///
    /// A deletion takes about 300 bytes until its compaction gives them back. Default: 32 MiB; with 0 nothing is held
    /// back, and writes go on until the disk is full.
    #[cfg(feature = "durable")]
    pub fn reserve_bytes(mut self, bytes: u64) -> Self {
        self.options.reserve_bytes = bytes;
        self
    }

    #[cfg(test)]
    #[cfg(feature = "durable")]
    pub(crate) fn into_options(self) -> Options {
        self.options
    }

    /// An empty engine that lives in memory only.
    #[must_use]
    pub fn in_memory(self) -> Embedded {
        Embedded::start_in_memory(self.options)
    }

    /// Opens the engine in a directory, which is made if need be, with everything that was acknowledged there.
    ///
    /// Only the user who makes a directory may enter it (mode 0700). When the future is dropped, the directory is let
    /// go again.
    ///
    /// # Errors
    /// [`Unavailable`](kubestore_kv::KvErrorKind::Unavailable) when it is open already, here or in another process;
    /// [`InvalidArgument`](kubestore_kv::KvErrorKind::InvalidArgument) when it holds something else;
    /// [`Unsupported`](kubestore_kv::KvErrorKind::Unsupported) when a newer version wrote it;
    /// [`PermissionDenied`](kubestore_kv::KvErrorKind::PermissionDenied) and
    /// [`ReadOnly`](kubestore_kv::KvErrorKind::ReadOnly) when it cannot be written;
    /// [`Corrupt`](kubestore_kv::KvErrorKind::Corrupt) when it is damaged, for which see [`Embedded::check`];
    /// [`NoSpace`](kubestore_kv::KvErrorKind::NoSpace) when there is no room even for opening it. Nothing is changed by
    /// the first five. Each names the directory and what helps.
    #[cfg(feature = "durable")]
    pub async fn open(
        self,
        directory: impl AsRef<std::path::Path>,
    ) -> Result<Embedded, kubestore_kv::KvError> {
        Embedded::start_durable(directory.as_ref(), self.options).await
    }
}
