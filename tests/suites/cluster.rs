//! Three members of etcd, many clients, and faults all the time: what clients are told is possible, no step of a counter is
//! lost or counted twice, and no watch misses anything.
//!
//! `KUBESTORE_LONG_SECONDS` is how long; 20 unless said otherwise.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "cluster/faults.rs"]
mod faults;
#[path = "cluster/lossy.rs"]
mod lossy;

use std::{env, sync::Arc, time::Duration};

use kubestore_etcd::testing::EtcdSetup;
use kubestore_kv::Kv;
use kubestore_tests::workload::Workload;

use faults::Faults;
use lossy::Lossy;

/// How long faults go on.
fn time() -> Duration {
    let seconds = env::var("KUBESTORE_LONG_SECONDS").map_or(20, |text| text.parse().unwrap());
    Duration::from_secs(seconds)
}

const CLIENTS: usize = 20;

/// One in so many answers is dropped on its way.
const LOSES_ONE_IN: u64 = 100;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaders_move_die_freeze_and_are_cut_off_and_nothing_is_lost_or_applied_twice() {
    let cluster = EtcdSetup::new().start_cluster(3).await.unwrap();
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        clients.push(Lossy::connect(&cluster, number as u64, LOSES_ONE_IN).await.unwrap());
    }
    let mut faults = Faults::new(cluster, 1);
    let workload = Workload::seeded(1)
        .clients(CLIENTS)
        .keys(25)
        .pause(Duration::from_millis(20))
        .compact_every(Duration::from_secs(10));
    let connect = |number: usize| Arc::clone(&clients[number % CLIENTS]) as Arc<dyn Kv>;
    let outcome = workload.run(connect, faults.go_on_for(time())).await.unwrap();
    let lost: u64 = clients.iter().map(|client| client.lost()).sum();
    println!("{outcome}\n{faults}; {lost} answers dropped");
    outcome.verify().unwrap();
    assert!(faults.count() >= 2, "{faults}");
    assert!(lost > 2 && outcome.report.unknown > 0, "{outcome}");
    let answered = outcome.tally.answered;
    assert!(answered > 500 && answered > 2 * outcome.tally.failed(), "too little came through: {outcome}");
}
