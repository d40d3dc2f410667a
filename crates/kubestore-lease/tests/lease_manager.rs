//! When leases are shared, and what happens when granting them is slow or fails.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod scripted;

use std::{
    error::Error,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{FutureExt, future::join_all};
use kubestore_conformance::ManualClock;
use kubestore_kv::{KvError, KvErrorKind, LeaseId};
use kubestore_lease::{LeaseManager, LeaseManagerConfig};
use kubestore_metrics::{Event, Recorder};
use scripted::Scripted;

/// Keeps the counts that were reported.
#[derive(Debug, Default)]
struct Counts(Mutex<Vec<u64>>);

impl Recorder for Counts {
    fn record(&self, event: Event<'_>) {
        match event {
            Event::LeaseObjects { count } => self.0.lock().unwrap().push(count),
            other => panic!("{other:?}"),
        }
    }
}

struct Bench {
    kv: Arc<Scripted>,
    clock: ManualClock,
    counts: Arc<Counts>,
    leases: LeaseManager,
}

fn bench(config: LeaseManagerConfig) -> Bench {
    let (kv, clock, counts) = (Arc::<Scripted>::default(), ManualClock::new(), Arc::<Counts>::default());
    let leases =
        LeaseManager::new(Arc::clone(&kv) as _, Arc::new(clock.clone()), config, Arc::clone(&counts) as _);
    Bench { kv, clock, counts, leases }
}

fn defaults() -> LeaseManagerConfig {
    LeaseManagerConfig::default()
}

impl Bench {
    /// The leases of these TTLs, asked for one after another.
    async fn get(&self, ttls: &[u64]) -> Vec<i64> {
        let mut leases = Vec::new();
        for &ttl in ttls {
            leases.push(self.leases.get_lease(ttl).await.unwrap().0);
        }
        leases
    }
}

#[tokio::test]
async fn slack_is_five_percent_of_the_ttl_at_most_the_configured_seconds() {
    let bench = bench(defaults());
    assert_eq!(
        bench.get(&[1000, 2000, 1000, 1000, 990, 1020, 5000, 100, 19, 20]).await,
        [1, 2, 3, 3, 4, 4, 5, 6, 7, 8]
    );
    assert_eq!(bench.kv.asked(), [1050, 2060, 1050, 1039, 5060, 105, 19, 21]);
}

#[tokio::test]
async fn without_slack_every_write_has_its_own_lease() {
    let bench = bench(defaults().with_reuse_duration_seconds(0));
    assert_eq!(bench.get(&[1000, 1000, 1000]).await, [1, 2, 3]);
    assert_eq!(bench.kv.asked(), [1000, 1000, 1000]);
}

#[tokio::test]
async fn lease_is_reused_until_it_would_end_too_early() {
    let bench = bench(defaults());
    assert_eq!(bench.get(&[1000]).await, [1]);
    bench.clock.advance(Duration::from_millis(49_999));
    assert_eq!(bench.get(&[1000]).await, [1]);
    bench.clock.advance(Duration::from_millis(1));
    assert_eq!(bench.get(&[1000, 1000]).await, [2, 2]);
    // A shorter TTL is served as long as the lease is not too long for it: 950 + 47 of slack.
    bench.clock.advance(Duration::from_secs(49));
    assert_eq!(bench.get(&[960]).await, [2]);
    assert_eq!(bench.get(&[950]).await, [3]);
}

#[tokio::test]
async fn clock_that_was_set_back_makes_no_object_live_too_long() {
    let bench = bench(defaults());
    assert_eq!(bench.get(&[1000]).await, [1]);
    bench.clock.set(std::time::SystemTime::UNIX_EPOCH);
    assert_eq!(bench.get(&[1000, 1000]).await, [2, 2]);
}

#[tokio::test]
async fn lease_serves_its_number_of_writes() {
    let bench = bench(defaults().with_max_object_count(3));
    assert_eq!(bench.get(&[1000; 7]).await, [1, 1, 1, 2, 2, 2, 3]);
    // As Kubernetes counts: the write that did not fit any more is counted too.
    assert_eq!(*bench.counts.0.lock().unwrap(), [1, 4, 4]);
}

#[tokio::test]
async fn zero_objects_means_the_default() {
    let bench = bench(defaults().with_max_object_count(0));
    let leases = bench.get(&[1000; 1001]).await;
    assert_eq!((leases[999], leases[1000]), (1, 2));
}

#[tokio::test]
async fn granted_ttl_counts_where_the_backend_raises_it() {
    let bench = bench(defaults());
    bench.kv.grant_at_least(Duration::from_secs(100));
    // Asked for 21 seconds, granted 100: too long for the next write of 20, short enough for one of 96.
    assert_eq!(bench.get(&[20, 20, 96]).await, [1, 2, 2]);
}

#[tokio::test]
async fn forgotten_lease_is_granted_anew_once() {
    let bench = bench(defaults());
    assert_eq!(bench.get(&[1000, 1000]).await, [1, 1]);
    bench.leases.forget(LeaseId(7));
    assert_eq!(bench.get(&[1000]).await, [1]);
    bench.leases.forget(LeaseId(1));
    assert_eq!(bench.get(&[1000]).await, [2]);
    // Another writer found the same out later.
    bench.leases.forget(LeaseId(1));
    assert_eq!(bench.get(&[1000]).await, [2]);
}

#[tokio::test]
async fn ttl_that_no_lease_can_have_is_refused_before_the_request() {
    let bench = bench(defaults());
    let longest = 9_000_000_000;
    let over = "is above the longest of a lease, 9000000000; give a shorter one or none";
    let cases = [
        (0, "grant_lease: a TTL of 0 seconds is none; write without a lease".to_owned()),
        (longest - 59, format!("grant_lease: a TTL of 8999999941 seconds with 60 of slack {over}")),
        (
            i64::MAX as u64,
            format!("grant_lease: a TTL of 9223372036854775807 seconds with 60 of slack {over}"),
        ),
        (u64::MAX, format!("grant_lease: a TTL of 18446744073709551615 seconds with 60 of slack {over}")),
    ];
    for (ttl, message) in cases {
        let error = bench.leases.get_lease(ttl).await.unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (KvErrorKind::InvalidArgument, message));
    }
    assert!(bench.kv.asked().is_empty());
    assert_eq!(bench.get(&[longest - 60]).await, [1]);
    assert_eq!(bench.kv.asked(), [longest]);
}

#[tokio::test]
async fn callers_of_one_ttl_share_a_slow_grant_and_no_other_waits_for_it() {
    let bench = bench(defaults());
    bench.kv.hold(1050);
    let waiting = join_all((0..10).map(|_| bench.leases.get_lease(1000)));
    let mut waiting = Box::pin(waiting);
    assert!(waiting.as_mut().now_or_never().is_none());
    assert_eq!(bench.kv.asked(), [1050]);
    // Another TTL is granted meanwhile.
    assert_eq!(bench.get(&[100]).await, [2]);

    bench.kv.release();
    let leases: Vec<_> = waiting.await.into_iter().map(|lease| lease.unwrap().0).collect();
    assert_eq!(leases, [1; 10]);
    assert_eq!(bench.kv.asked(), [1050, 105]);
    // It is the last one granted, and ten writes have it.
    assert_eq!(bench.get(&[1000]).await, [1]);
}

#[tokio::test]
async fn shared_grant_takes_no_more_writes_than_a_lease_may_have() {
    let bench = bench(defaults().with_max_object_count(3));
    bench.kv.hold(1050);
    let mut waiting = Box::pin(join_all((0..7).map(|_| bench.leases.get_lease(1000))));
    assert!(waiting.as_mut().now_or_never().is_none());
    assert_eq!(bench.kv.asked(), [1050, 1050, 1050]);
    bench.kv.release();
    let mut leases: Vec<_> = waiting.await.into_iter().map(|lease| lease.unwrap().0).collect();
    leases.sort_unstable();
    assert_eq!(leases, [1, 1, 1, 2, 2, 2, 3]);
}

#[tokio::test]
async fn grant_that_was_asked_for_too_long_ago_is_not_shared() {
    let bench = bench(defaults());
    bench.kv.hold(1050);
    let mut first = Box::pin(bench.leases.get_lease(1000));
    assert!(first.as_mut().now_or_never().is_none());
    bench.clock.advance(Duration::from_secs(50));
    let mut second = Box::pin(bench.leases.get_lease(1000));
    assert!(second.as_mut().now_or_never().is_none());
    assert_eq!(bench.kv.asked(), [1050, 1050]);
    bench.kv.release();
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (LeaseId(1), LeaseId(2)));
}

#[tokio::test]
async fn dropped_caller_leaves_the_others_their_grant() {
    let bench = bench(defaults());
    bench.kv.hold(1050);
    let mut first = Box::pin(bench.leases.get_lease(1000));
    let mut second = Box::pin(bench.leases.get_lease(1000));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    drop(first);
    bench.kv.release();
    assert_eq!(second.await.unwrap(), LeaseId(1));
    assert_eq!(bench.kv.asked(), [1050]);
}

#[tokio::test]
async fn grant_whose_callers_are_all_gone_is_dropped_and_asked_for_again() {
    let bench = bench(defaults());
    bench.kv.hold(1050);
    let mut first = Box::pin(bench.leases.get_lease(1000));
    assert!(first.as_mut().now_or_never().is_none());
    assert_eq!(bench.kv.pending(), 1);
    drop(first);
    assert_eq!(bench.kv.pending(), 0);
    bench.kv.release();
    assert_eq!(bench.get(&[1000, 1000]).await, [2, 2]);
}

#[tokio::test]
async fn all_who_waited_get_the_error_with_its_cause_and_the_next_one_asks_again() {
    let bench = bench(defaults());
    bench.kv.hold(1050);
    let mut waiting = Box::pin(join_all((0..3).map(|_| bench.leases.get_lease(1000))));
    assert!(waiting.as_mut().now_or_never().is_none());
    let cause = std::io::Error::other("the disk is full");
    let error = KvError::new(KvErrorKind::NoSpace, "grant_lease", "no space").with_source(cause);
    bench.kv.fail(error);
    bench.kv.release();
    for failed in waiting.await {
        let error = failed.unwrap_err();
        assert_eq!((error.kind(), error.to_string()), (KvErrorKind::NoSpace, "grant_lease: no space".into()));
        assert_eq!(error.source().unwrap().to_string(), "the disk is full");
        assert!(error.source().unwrap().source().is_none());
    }
    assert_eq!(bench.get(&[1000, 1000]).await, [2, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_get_full_leases_and_none_gets_too_many() {
    const TASKS: usize = 200;
    let bench = bench(defaults().with_max_object_count(10));
    let tasks = (0..TASKS).map(|_| {
        let leases = bench.leases.clone();
        tokio::spawn(async move { leases.get_lease(1000).await.unwrap().0 })
    });
    let mut uses = std::collections::HashMap::<i64, usize>::new();
    for lease in join_all(tasks).await {
        *uses.entry(lease.unwrap()).or_default() += 1;
    }
    assert_eq!(uses.values().sum::<usize>(), TASKS);
    assert!(uses.values().all(|&uses| uses <= 10), "{uses:?}");
}
