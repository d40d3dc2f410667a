//! Opening everything, to prove that it opens.

mod contents;
mod options;
mod other_keys;
mod part;
mod report;

use std::{pin::pin, sync::Arc};

use futures_util::{StreamExt, TryStreamExt, stream};
use kubestore_kv::{Kv, KvError};
use kubestore_transform::EncryptionConfig;

pub use options::VerifyOptions;
pub use report::{VerifyCounts, VerifyReport};

use self::part::{Checker, Part};
use crate::{
    AdminError, Scope,
    key_map::KeyMap,
    progress::Meter,
    scan::{self, Scan},
};

/// Opens every value with `config`, and writes nothing: proves that all can be read, and tells what is stale.
///
/// It reads as [`census`](crate::census()) does, and opens several parts at once on the threads of the runtime; memory is
/// bounded by [`VerifyOptions::concurrency`]. A value counts as open if its cipher says so; what is in it is looked at
/// after AES-CBC, which cannot tell a wrong secret for sure, and if [`VerifyOptions::check_contents`] is asked for. A value
/// that does not open is tried with the other keys of the configuration, to say which one opens it. Dropping the future
/// stops it.
///
/// # Errors
/// [`AdminError::Backend`]. Values that do not open are no error but in the report.
pub async fn verify(
    kv: &dyn Kv,
    scope: impl Into<Scope>,
    config: &EncryptionConfig,
    options: &VerifyOptions,
) -> Result<VerifyReport, AdminError> {
    let failed = |source: KvError| AdminError::Backend { job: "verify", done: 0, source: Box::new(source) };
    read_all(kv, &scope.into(), config, options).await.map_err(failed)
}

async fn read_all(
    kv: &dyn Kv,
    scope: &Scope,
    config: &EncryptionConfig,
    options: &VerifyOptions,
) -> Result<VerifyReport, KvError> {
    let prefixes = scope.key_prefixes();
    let total = scan::count(kv, &prefixes, options.retry_for).await?;
    let scan = Scan::begin(kv, prefixes, options.retry_for).await?;
    let mut report = VerifyReport { revision: scan.start().0, ..VerifyReport::default() };
    let mut meter = Meter::start(&options.observer, 1, total, 0);
    let checker = Arc::new(Checker::new(config, options.contents.clone()));
    let map = KeyMap::new(scope.prefix());
    let parts = stream::try_unfold((scan, map), |(mut scan, mut map)| async move {
        let read = scan.next().await?;
        Ok::<_, KvError>(read.map(|kvs| (Part::new(kvs, scope, &mut map), (scan, map))))
    });
    let checked = parts.map_ok(|part| checker.start(part)).try_buffered(options.concurrency);
    let mut checked = pin!(checked);
    while let Some(part) = checked.next().await {
        let part = part?;
        for (key, resource, opened) in part.opened {
            report.note(&key, resource, opened);
        }
        let failed = report.failures.total;
        meter.advance(|progress| {
            progress.done += part.read;
            progress.failed = failed;
        });
    }
    Ok(report)
}
