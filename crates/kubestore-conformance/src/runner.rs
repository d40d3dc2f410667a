//! Runs one case as one ordinary test.

use std::{pin::Pin, time::Duration};

use crate::Harness;

/// A case of a suite. It runs where it is called, so its future need not be [`Send`].
pub type Case = for<'a> fn(&'a dyn Harness) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The longest that one case may take; the slowest wait for real leases to end.
const CASE_LIMIT: Duration = Duration::from_secs(90);

/// Runs `case` to its end on a runtime of its own. What [`kv_suite!`](crate::kv_suite) puts into each test.
///
/// # Panics
/// The case failed, or did not end within 90 seconds.
pub fn run(name: &str, harness: &dyn Harness, case: Case) {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => panic!("no runtime for case {name}: {error}"),
    };
    let ended = runtime.block_on(async { tokio::time::timeout(CASE_LIMIT, case(harness)).await.is_ok() });
    runtime.shutdown_timeout(Duration::from_secs(5));
    assert!(ended, "[{}] case {name} did not end within {CASE_LIMIT:?}", harness.name());
}
