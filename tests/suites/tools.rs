//! The tools of the conformance crate, on the embedded engine: what they record is what happened, and what they break
//! breaks as they say.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use kubestore_conformance::{Call, Fault, FaultPlan, FaultyKv, Operation, Outcome, RecordingKv};
use kubestore_embedded::Embedded;
use kubestore_kv::{
    DeleteRequest, GetRequest, Kv, KvErrorKind, ListRequest, PutRequest, Revision, WatchGroup, WatchItem,
    WatchRequest, WatchTarget, WriteOutcome,
};

fn memory() -> Arc<dyn Kv> {
    Arc::new(Embedded::in_memory())
}

fn faulty(script: impl Fn(&Call) -> Fault + Send + Sync + 'static) -> (Arc<dyn Kv>, FaultyKv) {
    let inner = memory();
    (Arc::clone(&inner), FaultyKv::new(inner, script))
}

fn outcomes(kv: &RecordingKv) -> Vec<(Operation, Outcome, usize)> {
    kv.calls()
        .into_iter()
        .map(|recorded| (recorded.call.operation, recorded.outcome, recorded.items))
        .collect()
}

fn done(revision: i64) -> Outcome {
    Outcome::Done { revision: Some(Revision(revision)) }
}

#[tokio::test]
async fn calls_are_recorded_with_their_outcomes() {
    let kv = RecordingKv::new(memory());
    kv.optimistic_put(PutRequest::create("/a", "one")).await.unwrap();
    kv.optimistic_put(PutRequest::create("/a", "two")).await.unwrap();
    kv.optimistic_put(PutRequest::create("/b", "x")).await.unwrap();
    kv.get(GetRequest::new("/a")).await.unwrap();
    kv.get(GetRequest::new("/c")).await.unwrap();
    kv.list(ListRequest::new("/").limit(1)).await.unwrap();
    kv.list(ListRequest::new("/").at(Revision(99))).await.unwrap_err();
    kv.optimistic_delete(DeleteRequest::new("/b", Revision(3))).await.unwrap();
    let want = [
        (Operation::OptimisticPut, done(2), 0),
        (Operation::OptimisticPut, Outcome::Conflict, 0),
        (Operation::OptimisticPut, done(3), 0),
        (Operation::Get, done(3), 1),
        (Operation::Get, done(3), 0),
        (Operation::List, done(3), 1),
        (Operation::List, Outcome::Failed(KvErrorKind::FutureRevision), 0),
        (Operation::OptimisticDelete, done(4), 0),
    ];
    assert_eq!(outcomes(&kv), want);
    let texts: Vec<_> =
        kv.calls_of(Operation::List).iter().map(|recorded| recorded.call.to_string()).collect();
    assert_eq!(texts, ["#5 list / limit 1", "#6 list / at 99"]);
    assert_eq!(kv.calls()[0].call.to_string(), "#0 optimistic_put /a at 0 with 3 bytes");
}

#[tokio::test]
async fn streams_are_recorded_until_they_end_or_are_dropped() {
    let kv = RecordingKv::new(memory());
    for key in ["/a", "/b", "/c"] {
        kv.optimistic_put(PutRequest::create(key, "x")).await.unwrap();
    }
    assert_eq!(kv.take().len(), 3);
    kv.list_chunks(ListRequest::new("/")).try_collect::<Vec<_>>().await.unwrap();
    let target = WatchTarget::Prefix(Bytes::from_static(b"/"));
    let request = WatchRequest::new(WatchGroup::new(), target).from(Revision(2));
    let mut watch = kv.watch(request.clone()).await.unwrap();
    let mut seen = 0;
    while seen < 3 {
        if let WatchItem::Events { events, .. } = watch.next().await.unwrap().unwrap() {
            seen += events.len();
        }
    }
    assert_eq!(outcomes(&kv)[1..], [(Operation::Watch, Outcome::Pending, 3)]);
    drop(watch);
    kv.compact(Revision(4)).await.unwrap();
    kv.watch(request).await.unwrap().try_collect::<Vec<_>>().await.unwrap_err();
    let want = [
        (Operation::ListChunks, done(4), 3),
        (Operation::Watch, Outcome::Dropped, 3),
        (Operation::Compact, Outcome::Done { revision: None }, 0),
        (Operation::Watch, Outcome::Failed(KvErrorKind::Compacted), 0),
    ];
    assert_eq!(outcomes(&kv), want);
    assert_eq!(kv.calls()[0].call.number, 3, "numbers go on after the calls were taken");
}

#[tokio::test]
async fn failed_call_never_reaches_the_backend() {
    let (inner, kv) = faulty(|call| match call.operation {
        Operation::OptimisticPut => Fault::fail(KvErrorKind::NoSpace),
        _ => Fault::none(),
    });
    let error = kv.optimistic_put(PutRequest::create("/a", "x")).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.operation(), error.key()),
        (KvErrorKind::NoSpace, "optimistic_put", Some(&b"/a"[..]))
    );
    assert!(inner.get(GetRequest::new("/a")).await.unwrap().kv.is_none());
    assert!(kv.get(GetRequest::new("/a")).await.unwrap().kv.is_none());
}

#[tokio::test]
async fn lost_answer_leaves_the_write_done_and_unknown() {
    let (inner, kv) = faulty(|_| Fault::lose_answer());
    let error = kv.optimistic_put(PutRequest::create("/a", "x")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::OutcomeUnknown);
    assert!(inner.get(GetRequest::new("/a")).await.unwrap().kv.is_some());
    let error = kv.get(GetRequest::new("/a")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::DeadlineExceeded);
}

#[tokio::test(start_paused = true)]
async fn late_write_happens_after_its_client_gave_up() {
    let (inner, kv) = faulty(|call| match call.operation {
        Operation::OptimisticPut => Fault::late(tokio::time::sleep(Duration::from_secs(5))),
        _ => Fault::none(),
    });
    let error = kv.optimistic_put(PutRequest::create("/a", "x")).await.unwrap_err();
    assert_eq!(error.kind(), KvErrorKind::OutcomeUnknown);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(inner.get(GetRequest::new("/a")).await.unwrap().kv.is_none());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(inner.get(GetRequest::new("/a")).await.unwrap().kv.is_some());
}

#[tokio::test]
async fn streams_are_cut_where_the_script_says() {
    let (inner, kv) = faulty(|_| Fault::none().cut_after(2, KvErrorKind::Unavailable));
    let target = WatchTarget::Prefix(Bytes::from_static(b"/"));
    let mut watch = kv.watch(WatchRequest::new(WatchGroup::new(), target)).await.unwrap();
    for number in 0..2 {
        inner.optimistic_put(PutRequest::create(format!("/{number}"), "x")).await.unwrap();
        assert!(matches!(watch.next().await, Some(Ok(WatchItem::Events { .. }))));
    }
    inner.optimistic_put(PutRequest::create("/2", "x")).await.unwrap();
    assert_eq!(watch.next().await.unwrap().unwrap_err().kind(), KvErrorKind::Unavailable);
    assert!(watch.next().await.is_none());
    let whole: Vec<_> = kv.list_chunks(ListRequest::new("/")).try_collect().await.unwrap();
    assert!(whole.last().unwrap().end.is_some(), "a stream shorter than the cut ends as it would");
}

#[tokio::test]
async fn something_else_can_happen_before_and_after_a_call() {
    let inner = memory();
    let rival = Arc::clone(&inner);
    let (opened, gate) = tokio::sync::oneshot::channel::<()>();
    let gate = std::sync::Mutex::new(Some(gate));
    let kv = Arc::new(FaultyKv::new(Arc::clone(&inner), move |call: &Call| match call.operation {
        Operation::OptimisticPut => {
            let rival = Arc::clone(&rival);
            let gate = gate.lock().unwrap().take();
            let write = async move {
                rival.optimistic_put(PutRequest::create("/a", "rival")).await.unwrap();
            };
            let answer = async move {
                if let Some(gate) = gate {
                    let _opened = gate.await;
                }
            };
            Fault::none().before(write).after(answer)
        }
        _ => Fault::none(),
    }));
    let writer = Arc::clone(&kv);
    let write = tokio::spawn(async move { writer.optimistic_put(PutRequest::create("/a", "late")).await });
    while inner.get(GetRequest::new("/a")).await.unwrap().kv.is_none() {
        tokio::task::yield_now().await;
    }
    assert!(!write.is_finished(), "the answer waits for the gate");
    opened.send(()).unwrap();
    assert!(matches!(write.await.unwrap().unwrap(), WriteOutcome::Conflict { .. }));
}

#[tokio::test(start_paused = true)]
async fn delayed_calls_are_overtaken() {
    let (inner, kv) = faulty(|call| match call.number {
        0 => Fault::none().delay(Duration::from_secs(1)),
        _ => Fault::none(),
    });
    let slow = kv.optimistic_put(PutRequest::create("/a", "first"));
    let fast = async {
        tokio::task::yield_now().await;
        kv.optimistic_put(PutRequest::create("/a", "second")).await
    };
    let (slow, fast) = tokio::join!(slow, fast);
    assert!(matches!(slow.unwrap(), WriteOutcome::Conflict { .. }));
    assert!(matches!(fast.unwrap(), WriteOutcome::Done { .. }));
    assert_eq!(inner.get(GetRequest::new("/a")).await.unwrap().kv.unwrap().value, Bytes::from("second"));
}

#[tokio::test]
async fn seeded_plan_gives_the_same_run_twice() {
    let run = async |seed| {
        let plan = FaultPlan::seeded(seed)
            .fail(Operation::ALL, 0.2, KvErrorKind::Unavailable)
            .lose_answers([Operation::OptimisticPut], 0.2);
        let kv = RecordingKv::new(Arc::new(FaultyKv::new(memory(), plan)));
        for number in 0..200 {
            let _maybe = kv.optimistic_put(PutRequest::create(format!("/{number}"), "x")).await;
            let _maybe = kv.get(GetRequest::new(format!("/{number}"))).await;
        }
        outcomes(&kv)
    };
    let (first, second, other) = (run(1).await, run(1).await, run(2).await);
    assert_eq!(first, second);
    assert_ne!(first, other);
    let unknown =
        first.iter().filter(|(_, outcome, _)| *outcome == Outcome::Failed(KvErrorKind::OutcomeUnknown));
    assert!((15..60).contains(&unknown.count()), "about 32 of 200 puts lose their answer");
}
