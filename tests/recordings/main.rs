//! All recordings on every backend: none fails, none is left out.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking and says why")]

mod command;

use std::path::PathBuf;

use kubestore_tests::{
    recording::load,
    replay::{BackendKind, Backends, Options, replay},
};

/// How many there are: 119 made by hand, 60 at random.
const SCENARIOS: usize = 179;

async fn passes(kind: BackendKind, options: Options) {
    let pack = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/conformance.tar.gz");
    let scenarios = load(&[pack]).unwrap();
    let report = replay(scenarios, &Backends::new(kind), options, |_| {}).await.unwrap();
    for scenario in report.scenarios.iter().filter(|scenario| !scenario.passed()) {
        eprintln!("{scenario}");
    }
    assert_eq!(report.to_string(), format!("{SCENARIOS} passed, 0 failed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recording_passes_in_memory() {
    passes(BackendKind::Memory, Options::default()).await;
}

/// The reference's requests too, one by one: transactions of the same shape, no read more and none less.
#[tokio::test(flavor = "multi_thread")]
async fn the_requests_are_those_of_the_reference() {
    passes(BackendKind::Memory, Options::default().with_trace(true)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recording_passes_durable() {
    passes(BackendKind::Durable, Options::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recording_passes_on_etcd() {
    passes(BackendKind::Etcd, Options::default()).await;
}

/// Revisions are relative: what was there before changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn every_recording_passes_on_a_backend_with_a_history() {
    passes(BackendKind::Memory, Options::default().with_pad(1234)).await;
}
