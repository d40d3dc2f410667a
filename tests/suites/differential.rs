//! The embedded engine against etcd, step by step: the same random steps come to the same.
//!
//! `KUBESTORE_DIFFERENTIAL_SEEDS` asks for more runs than the few of every day, `KUBESTORE_DIFFERENTIAL_FIRST` for other ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "one etcd is enough here")]
mod support;

use std::{env, sync::Arc};

use kubestore_embedded::Embedded;
use kubestore_kv::Kv;
use kubestore_tests::{
    differential::{Compared, Differential},
    random::random,
    replay::{BackendKind, Backends, Options, replay},
};
use tempfile::TempDir;

/// So many steps a run.
const STEPS: usize = 300;

/// The same for the store, whose watches are waited for more often.
const STORE_STEPS: usize = 120;

/// The seeds to run.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str, default| env::var(name).map_or(default, |text| text.parse().unwrap());
    let first = number("KUBESTORE_DIFFERENTIAL_FIRST", 0);
    first..first + number("KUBESTORE_DIFFERENTIAL_SEEDS", 6)
}

#[tokio::test(flavor = "multi_thread")]
async fn embedded_does_as_etcd_does() {
    let etcd = support::etcd::start().await;
    let directory = TempDir::with_prefix("kubestore-differential-").unwrap();
    let backends: [(&str, Arc<dyn Kv>); 3] = [
        ("etcd", support::etcd::connect(etcd.endpoint()).await),
        ("memory", Arc::new(Embedded::in_memory())),
        ("durable", Arc::new(Embedded::open(directory.path()).await.unwrap())),
    ];
    let mut all = Compared::default();
    for seed in seeds() {
        all = all.and(Differential::seeded(seed, STEPS).run(&backends).await.unwrap());
    }
    println!("{all} are alike on etcd, in memory and in a directory");
    assert!(all.errors > all.steps / 50, "{all}: too few errors to tell");
    assert!(all.events > all.steps / 10, "{all}: too few events to tell");
}

/// The store, too: on every backend each step comes to what the model of it says.
async fn does_as_the_model_says(kind: BackendKind) {
    let scenarios: Vec<_> = seeds().map(|seed| random(seed, STORE_STEPS).unwrap()).collect();
    let report =
        replay(scenarios, &Backends::new(kind), Options::default().with_own(true), |_| {}).await.unwrap();
    let failed: Vec<_> = report.scenarios.iter().filter(|scenario| !scenario.passed()).collect();
    assert!(failed.is_empty(), "{}", failed[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_in_memory_does_as_the_model_says() {
    does_as_the_model_says(BackendKind::Memory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_in_a_directory_does_as_the_model_says() {
    does_as_the_model_says(BackendKind::Durable).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_on_etcd_does_as_the_model_says() {
    does_as_the_model_says(BackendKind::Etcd).await;
}
