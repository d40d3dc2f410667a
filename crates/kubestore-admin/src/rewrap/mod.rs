//! Encrypting anew what is not stored as it would be written now.

mod options;
mod pacer;
mod pass;
mod report;
mod value;

use kubestore_kv::Kv;
use kubestore_transform::EncryptionConfig;

pub use options::RewrapOptions;
pub use report::{RewrapCounts, RewrapReport};

use self::{pacer::Pacer, pass::Job, value::Rewriter};
use crate::{AdminError, Scope};

/// Encrypts anew every value that is stale under `config`: written with another key or provider than the one that writes
/// now, or not encrypted although it should be, or the reverse.
///
/// # Contract
/// - The bytes that were decrypted are encrypted. They are never decoded, so that nothing in them is lost or changed.
/// - Every write is conditional on the revision that was read, and made with the lease that the key had. If somebody else
///   was faster, the key is read and judged again: no edit is lost or undone, and nothing deleted comes back.
/// - What is stored as it should be is only read.
/// - It ends when a whole pass over the keys has found nothing stale that was there when the pass began. Servers with an
///   older configuration may add stale values at any time: see [`RewrapReport::written_meanwhile`].
/// - Memory does not grow with the number of keys, and a compaction does not disturb it.
/// - What cannot be opened is left alone, and told in [`RewrapReport::failures`].
///
/// Which key seals is decided by `config`, so the servers must be able to read it before this is done: see
/// [`plan`](crate::plan()).
///
/// # Cancellation
/// It may be stopped at any time, by dropping the future or by killing the process: each value is either written as a whole
/// or left alone. Done again, it only reads what was done.
///
/// # Errors
/// [`AdminError::Backend`]: it was away for too long, is full, only reads, or refuses this user.
pub async fn rewrap(
    kv: &dyn Kv,
    scope: impl Into<Scope>,
    config: &EncryptionConfig,
    options: &RewrapOptions,
) -> Result<RewrapReport, AdminError> {
    let scope = scope.into();
    let rewriter = Rewriter {
        kv,
        pacer: Pacer::new(options.rate),
        dry_run: options.dry_run,
        retry_for: options.retry_for,
    };
    let mut job = Job::new(&scope, config, options, &rewriter);
    match job.run().await {
        Ok(()) => Ok(job.report),
        Err(source) => Err(AdminError::Backend {
            job: "rewrap",
            done: if options.dry_run { 0 } else { job.report.total.rewritten },
            source: Box::new(source),
        }),
    }
}
