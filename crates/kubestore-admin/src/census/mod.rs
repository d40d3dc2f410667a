//! Which keys encrypt what, found out without any of them.

mod options;
mod report;
mod tally;

use kubestore_kv::Kv;

pub use options::CensusOptions;
pub use report::{Census, CensusRow, Standing};

use self::tally::Tally;
use crate::{
    AdminError, Scope,
    key_map::KeyMap,
    progress::Meter,
    scan::{self, Scan},
};

/// Counts what is stored: by resource, provider, key name and version of the envelope, or by encoding if it is not
/// encrypted. No key is needed, since the envelope names its own.
///
/// Everything is read at one revision, part by part in bounded memory. If that revision is compacted meanwhile, the rest is
/// read at a newer one: [`Census::last_revision`] then differs. Dropping the future stops it; nothing is ever written.
///
/// ```
/// use kubestore_admin::{CensusOptions, census};
/// use kubestore_embedded::Embedded;
/// use kubestore_kv::{Kv, PutRequest};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kv = Embedded::in_memory();
/// kv.optimistic_put(PutRequest::create("/registry/secrets/ns/a", "k8s:enc:aesgcm:v1:key1:...")).await?;
/// kv.optimistic_put(PutRequest::create("/registry/pods/ns/a", "{}")).await?;
///
/// let census = census(&kv, "/registry", &CensusOptions::default()).await?;
/// let rows: Vec<_> = census.rows.iter().map(|row| (row.resource.to_string(), row.form(), row.values)).collect();
/// assert_eq!(rows, [("pods".into(), "json".into(), 1), ("secrets".into(), "aesgcm:key1".into(), 1)]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`AdminError::Backend`].
pub async fn census(
    kv: &dyn Kv,
    scope: impl Into<Scope>,
    options: &CensusOptions,
) -> Result<Census, AdminError> {
    let scope = scope.into();
    let failed = |source| AdminError::Backend { job: "census", done: 0, source: Box::new(source) };
    let prefixes = scope.key_prefixes();
    let total = scan::count(kv, &prefixes, options.retry_for).await.map_err(failed)?;
    let mut scan = Scan::begin(kv, prefixes, options.retry_for).await.map_err(failed)?;
    let mut meter = Meter::start(&options.observer, 1, total, 0);
    let mut map = KeyMap::new(scope.prefix());
    let mut tally = Tally::default();
    while let Some(part) = scan.next().await.map_err(failed)? {
        for kv in &part {
            let owner = map.owner(&kv.key);
            if scope.contains(&owner.id) {
                tally.count(owner, &kv.value);
            }
        }
        meter.advance(|progress| progress.done += part.len() as u64);
    }
    Ok(Census {
        prefix: scope.prefix().to_owned(),
        revision: scan.start().0,
        last_revision: scan.revision().0,
        values: tally.values,
        bytes: tally.bytes,
        rows: tally.into_rows(options.config.as_ref()),
    })
}
