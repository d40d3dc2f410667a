//! Opening everything, to prove that it opens.

mod options;
mod report;

use std::pin::pin;

use futures_util::StreamExt;
use kubestore_kv::{KeyValue, Kv, KvError};
use kubestore_transform::{EncryptionConfig, Opened, ValueContext};

pub use options::VerifyOptions;
pub use report::{VerifyCounts, VerifyReport};

use crate::{
    AdminError, Scope,
    failure::Problem,
    key_map::{KeyMap, Owner},
    progress::Meter,
    rules::{self, Rules},
    scan::{self, Scan},
};

/// Opens every value with `config`, and writes nothing: proves that all can be read, and tells what is stale.
///
/// It reads as [`census`](crate::census()) does, in bounded memory. A value counts as open if its cipher says so; what is in
/// it is not looked at, except after AES-CBC, which cannot tell a wrong secret for sure. Dropping the future stops it.
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
    let (mut map, mut rules) = (KeyMap::new(scope.prefix()), Rules::new(config));
    let mut values = pin!(scan.into_stream());
    while let Some(kv) = values.next().await {
        let kv = kv?;
        let owner = map.owner(&kv.key);
        if scope.contains(&owner.id) {
            let key = kv.key.clone();
            let opened = open(kv, &owner, &mut rules).await;
            report.note(&key, owner.id, opened);
        }
        let failed = report.failures.total;
        meter.advance(|progress| {
            progress.done += 1;
            progress.failed = failed;
        });
    }
    Ok(report)
}

async fn open(kv: KeyValue, owner: &Owner, rules: &mut Rules<'_>) -> Result<Opened, Problem> {
    let KeyValue { key, value, .. } = kv;
    match rules.transformer(owner) {
        Some(transformer) => rules::open(&*transformer, value, ValueContext::new(&key)).await,
        None => Err(rules::undecided(&owner.id)),
    }
}
