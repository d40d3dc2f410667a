//! Many clients at once on the embedded engine, in memory and in a directory, undisturbed and disturbed: what they are told is
//! possible. And on engines with a flaw: that it is not is found.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "flaws/backend.rs"]
#[expect(dead_code, reason = "not every flaw shows in a history")]
mod backend;

use std::{future, sync::Arc, time::Duration};

use kubestore_conformance::{
    FaultPlan, FaultyKv, Harness as _, Isolation, Operation,
    history::ViolationKind::{self, *},
};
use kubestore_embedded::Embedded;
use kubestore_kv::{Kv, KvErrorKind};
use kubestore_tests::workload::{Outcome, Workload};
use tempfile::TempDir;

use backend::{Flaw, Flawed};

const WRITES: [Operation; 2] = [Operation::OptimisticPut, Operation::OptimisticDelete];

async fn work_on(backend: Arc<dyn Kv>, workload: Workload) -> Outcome {
    workload.run(|_| Arc::clone(&backend), future::pending()).await.unwrap()
}

/// What can go wrong between a client and its backend.
fn disturbed(backend: Arc<dyn Kv>, seed: u64) -> Arc<dyn Kv> {
    let plan = FaultPlan::seeded(seed)
        .fail(Operation::ALL, 0.02, KvErrorKind::Unavailable)
        .lose_answers(WRITES, 0.02)
        .apply_late(WRITES, 0.02, Duration::from_millis(20))
        .delay(Operation::ALL, 0.05, Duration::from_millis(2))
        .delay_answers(Operation::ALL, 0.05, Duration::from_millis(2))
        .cut([Operation::Watch], 1.0, 10, KvErrorKind::NoLeader);
    Arc::new(FaultyKv::new(backend, plan))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_linearizable() {
    let outcome = work_on(Arc::new(Embedded::in_memory()), Workload::seeded(1).steps(400)).await;
    outcome.verify().unwrap();
    let (report, failed) = (&outcome.report, outcome.tally.failed());
    assert!(report.operations >= 3_200 && report.events > 1_000, "{outcome}");
    assert_eq!((report.unknown, failed), (0, 0), "{outcome}");
    assert!(outcome.counts.iter().all(|count| count.shown > 50 && count.unknown == 0), "{outcome}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_is_linearizable() {
    let directory = TempDir::with_prefix("kubestore-history-").unwrap();
    let backend = Embedded::open(directory.path()).await.unwrap();
    let workload = Workload::seeded(2).steps(150).compact_every(Duration::from_millis(100));
    let outcome = work_on(Arc::new(backend), workload).await;
    outcome.verify().unwrap();
    assert!(outcome.report.operations >= 1_200, "{outcome}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_answers_and_late_writes_are_honestly_unknown() {
    let mut reopened = 0;
    for seed in 0..4 {
        let backend = disturbed(Arc::new(Embedded::in_memory()), seed);
        let outcome = work_on(backend, Workload::seeded(seed).steps(300)).await;
        outcome.verify().unwrap();
        let report = &outcome.report;
        assert!(report.unknown > 30 && report.applied > 5, "{outcome}");
        assert!(outcome.tally.failed() > report.unknown, "{outcome}");
        reopened += outcome.tally.reopened;
    }
    assert!(reopened > 0, "watches are cut");
}

/// Whether the work shows that a backend with `flaw` does not keep its promises, by one of `kinds`.
fn shows(flaw: Flaw, kinds: &[ViolationKind]) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let outcome = runtime.block_on(async {
        let instance = Flawed(Some(flaw)).start(Isolation::Exclusive).await.unwrap();
        // A delay in every second call gives others the time to come in between.
        let plan = FaultPlan::seeded(3).delay(Operation::ALL, 0.5, Duration::from_millis(1));
        let backend: Arc<dyn Kv> = Arc::new(FaultyKv::new(instance.kv(), plan));
        let workload = Workload::seeded(3).steps(120).recovery(Duration::from_secs(2));
        work_on(backend, workload).await
    });
    let report = &outcome.report;
    assert!(kinds.iter().any(|kind| report.has(*kind)), "{flaw:?} goes unnoticed: {report}");
}

macro_rules! flaws {
    ($($test:ident: $flaw:ident, $($kind:ident)|+;)*) => {$(
        #[test]
        fn $test() {
            shows(Flaw::$flaw, &[$($kind),+]);
        }
    )*};
}

flaws! {
    a_get_of_the_past_that_is_of_now_is_found: GetIgnoresRevision, NotLinearizable | RevisionsBack;
    a_head_of_the_past_is_found: HeadIsRevisionAsked, NotLinearizable | RevisionsBack;
    a_list_of_the_past_that_is_of_now_is_found: ListIgnoresRevision, NotLinearizable;
    a_list_that_lags_is_found: ListLags, NotLinearizable;
    a_list_in_the_wrong_order_is_found: ListReversed, ListMalformed;
    a_list_that_misses_its_first_key_is_found: StartExclusive, NotLinearizable;
    a_list_over_its_limit_is_found: LimitIgnored, ListMalformed;
    a_list_that_hides_that_there_is_more_is_found: NeverMore, ListMalformed;
    a_part_that_lost_a_key_is_found: ChunksLoseOne, NotLinearizable;
    a_create_that_overwrites_is_found: CreateOverwrites, NotLinearizable;
    a_race_of_creates_is_found: RacyCreates, NotLinearizable;
    a_deletion_on_no_condition_is_found: DeleteUnconditional, NotLinearizable;
    a_conflict_that_hides_the_key_is_found: ConflictHidesCurrent, NotLinearizable;
    a_lost_event_is_found: WatchLosesEvent, EventMissing;
    a_repeated_event_is_found: WatchRepeatsEvent, EventTwice;
    swapped_events_are_found: WatchSwapsEvents, ItemMalformed;
    a_watch_that_starts_late_is_found: WatchStartsLate, EventMissing;
    a_watch_registered_late_is_found: WatchLazy, EventMissing;
    a_missing_previous_value_is_found: WatchWithoutPrevious, PreviousWrong;
    a_previous_value_that_nobody_asked_for_is_found: WatchAlwaysPrevious, PreviousWrong;
    progress_that_overtakes_events_is_found: ProgressOvertakes, EventTooLate | RevisionsBack;
}
