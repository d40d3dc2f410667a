//! Runs one case as one ordinary test.

use std::{
    panic,
    pin::Pin,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use tokio::runtime::{Builder, Runtime};

use crate::{Harness, storage::StorageHarness};

/// A case of the key-value suite. It stays on one thread, so its future need not be [`Send`].
pub type Case = for<'a> fn(&'a dyn Harness) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A case of the storage suite.
pub type StorageCase = for<'a> fn(&'a dyn StorageHarness) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The longest that one case may take; the slowest wait for real leases to end.
const CASE_LIMIT: Duration = Duration::from_secs(90);

/// Runs `case` to its end, on a thread and a runtime of its own. What [`kv_suite!`](crate::kv_suite) puts into each
/// test.
///
/// # Panics
/// The case failed, or did not end within 90 seconds, be it that a backend never lets its caller's thread go.
pub fn run(name: &'static str, harness: impl Harness, case: Case) {
    let backend = harness.name().to_owned();
    supervise(name, &backend, move |runtime| runtime.block_on(case(&harness)));
}

/// [`run`] for a case of the storage suite.
///
/// # Panics
/// As there.
pub fn run_storage(name: &'static str, harness: impl StorageHarness, case: StorageCase) {
    let backend = harness.name().to_owned();
    supervise(name, &backend, move |runtime| runtime.block_on(case(&harness)));
}

fn supervise(name: &'static str, backend: &str, case: impl FnOnce(&Runtime) + Send + 'static) {
    let (ended, end) = mpsc::channel::<()>();
    let running = thread::spawn(move || {
        // Dropped at the end, also by a panic, which wakes the waiting thread.
        let _ended = ended;
        let runtime = match Builder::new_multi_thread().worker_threads(2).enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => panic!("no runtime for case {name}: {error}"),
        };
        case(&runtime);
        runtime.shutdown_timeout(Duration::from_secs(5));
    });
    if end.recv_timeout(CASE_LIMIT) == Err(RecvTimeoutError::Timeout) {
        panic!("[{backend}] case {name} did not end within {CASE_LIMIT:?}");
    }
    if let Err(failure) = running.join() {
        panic::resume_unwind(failure);
    }
}
