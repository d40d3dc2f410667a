//! Power cuts on a simulated disk under writers, leases and compaction: what was acknowledged or seen is there.
//!
//! The disk keeps what was synced and some first part of what was not, which is all that the engine asks of `fjall`.
//! Whether `fjall` keeps to it is not shown here but in `torn`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{StreamExt, future::join_all};
use kubestore_kv::{
    DeleteRequest, GetRequest, Kv, KvError, KvErrorKind, KvEvent, KvEventKind, KvWatch, LeaseId, ListRequest,
    PutRequest, Revision, WatchGroup, WatchItem, WatchRequest, WatchTarget, WriteOutcome,
};

use super::{
    super::fake::Moment,
    rig::{Random, Rig, open, times},
};
use crate::Embedded;

const WRITERS: usize = 8;
const KEYS: usize = 6;

/// A key and its new value, or `None` for its deletion.
type Change = (String, Option<String>);

/// What the outside knows.
#[derive(Default)]
struct Known {
    /// Keys with their values and revisions, after a cut and therefore for certain.
    state: BTreeMap<String, (String, i64)>,
    head: i64,
    compacted: i64,
    /// Leases granted, until their end was asked for or their time may have come.
    leases: BTreeMap<LeaseId, Duration>,
    ended: BTreeSet<LeaseId>,
}

/// What happens between two cuts.
#[derive(Default)]
struct Round {
    acknowledged: BTreeMap<i64, Change>,
    attempted: BTreeSet<Change>,
    compacted: i64,
    granted: BTreeMap<LeaseId, Duration>,
    /// Leases whose end was asked for, and whether that was acknowledged.
    ending: BTreeMap<LeaseId, bool>,
    mark: Vec<u8>,
}

type Shared = Arc<Mutex<Round>>;

/// Writes to keys of its own until the power goes.
async fn writer(kv: Embedded, round: Shared, number: usize, tag: usize, mark: std::path::PathBuf) {
    for write in 0.. {
        let key = format!("w{number}/{}", write % KEYS);
        let Ok(answer) = kv.get(GetRequest::new(key.clone())).await else { return };
        let at = answer.kv.as_ref().map_or(Revision(0), |kv| kv.mod_revision);
        let lease = (write % 4 == 0).then(|| round.lock().unwrap().granted.keys().last().copied()).flatten();
        let value = (write % 5 != 4).then(|| format!("{tag}/{number}/{write}"));
        let change = (key.clone(), value.clone());
        round.lock().unwrap().attempted.insert(change.clone());
        let outcome = match value {
            Some(value) => kv.optimistic_put(PutRequest::update(key, value, at).with_lease(lease)).await,
            None => kv.optimistic_delete(DeleteRequest::new(key, at)).await,
        };
        match outcome {
            Ok(WriteOutcome::Done { revision }) => {
                let mut round = round.lock().unwrap();
                // A deletion of nothing changes nothing.
                if change.1.is_some() || answer.kv.is_some() {
                    round.acknowledged.insert(revision.0, change);
                }
                if write == 3 {
                    round.mark = std::fs::read(&mark).unwrap();
                }
            }
            // Its lease took the key away meanwhile, or the lease itself has ended.
            Ok(_) => {}
            Err(error) if error.kind() == KvErrorKind::LeaseNotFound => {}
            Err(error) => return assert_is_cut(&error),
        }
    }
}

fn assert_is_cut(error: &KvError) {
    let kind = error.kind();
    assert!(matches!(kind, KvErrorKind::OutcomeUnknown | KvErrorKind::ReadOnly), "{error:?}");
}

/// Grants leases and revokes some of them.
async fn leaser(kv: Embedded, round: Shared) {
    for turn in 0.. {
        let ttl = Duration::from_secs(1000 + turn);
        match kv.grant_lease(ttl).await {
            Ok(grant) => round.lock().unwrap().granted.insert(grant.id, ttl),
            Err(error) => return assert_is_cut(&error),
        };
        let old = (turn % 3 == 2).then(|| round.lock().unwrap().granted.keys().next().copied()).flatten();
        let Some(old) = old else { continue };
        {
            let mut round = round.lock().unwrap();
            round.granted.remove(&old);
            round.ending.insert(old, false);
        }
        match kv.revoke_lease(old).await {
            Ok(()) => round.lock().unwrap().ending.insert(old, true),
            Err(error) => return assert_is_cut(&error),
        };
    }
}

/// Compacts what was there before the round, bit by bit.
async fn compactor(kv: Embedded, round: Shared, from: i64, to: i64) {
    for at in (from + 1..to).step_by(7) {
        match kv.compact(Revision(at)).await {
            Ok(()) => round.lock().unwrap().compacted = at,
            Err(error) => return assert_is_cut(&error),
        }
        tokio::task::yield_now().await;
    }
}

fn changes(events: &[KvEvent]) -> impl Iterator<Item = (i64, Change)> {
    events.iter().map(|event| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let value = matches!(event.kind, KvEventKind::Put).then(|| text(&event.kv.value));
        (event.kv.mod_revision.0, (text(&event.kv.key), value))
    })
}

async fn watch_from(kv: &Embedded, from: i64) -> KvWatch {
    let everything = WatchRequest::new(WatchGroup::new(), WatchTarget::Prefix("".into()));
    kv.watch(everything.from(Revision(from))).await.unwrap()
}

/// All that a watch tells until the engine closes.
async fn watcher(mut watch: KvWatch) -> BTreeMap<i64, Vec<Change>> {
    let mut seen = BTreeMap::<_, Vec<_>>::new();
    while let Some(Ok(item)) = watch.next().await {
        if let WatchItem::Events { events, .. } = item {
            for (revision, change) in changes(&events) {
                seen.entry(revision).or_default().push(change);
            }
        }
    }
    seen
}

impl Known {
    /// Compares what is there after a cut with what was said before it.
    async fn check(&mut self, kv: &Embedded, round: &Round, seen: &BTreeMap<i64, Vec<Change>>, cut: usize) {
        let status = kv.status().await.unwrap();
        let last = round.acknowledged.keys().last().copied().unwrap_or(0).max(self.head);
        assert!(status.head.0 >= last, "cut {cut}: head {} is below {last}", status.head);
        assert!(status.compacted.unwrap().0 >= round.compacted.max(self.compacted), "cut {cut}");
        let mut watch = watch_from(kv, self.head + 1).await;
        let mut found = BTreeMap::<_, Vec<_>>::new();
        while found.last_key_value().map_or(self.head, |(revision, _)| *revision) < status.head.0 {
            let Some(Ok(item)) = watch.next().await else { panic!("cut {cut}: expected events") };
            let WatchItem::Events { events, .. } = item else { continue };
            for (revision, change) in changes(&events) {
                found.entry(revision).or_default().push(change);
            }
        }
        assert!(found.keys().copied().eq(self.head + 1..=status.head.0), "cut {cut}: no gap");
        for (revision, change) in &round.acknowledged {
            assert_eq!(found.get(revision), Some(&vec![change.clone()]), "cut {cut}: revision {revision}");
        }
        for (revision, changes) in seen.range(self.head + 1..) {
            assert_eq!(found.get(revision), Some(changes), "cut {cut}: revision {revision} was seen");
        }
        let ends = !round.ending.is_empty();
        for change in found.values().flatten() {
            assert!(
                round.attempted.contains(change) || (change.1.is_none() && ends),
                "cut {cut}: {change:?}"
            );
        }
        for (revision, (key, value)) in
            found.into_iter().flat_map(|(at, changes)| changes.into_iter().map(move |change| (at, change)))
        {
            match value {
                Some(value) => self.state.insert(key, (value, revision)),
                None => self.state.remove(&key),
            };
        }
        (self.head, self.compacted) = (status.head.0, status.compacted.unwrap().0);
        self.check_state(kv, cut).await;
        self.check_leases(kv, round, cut).await;
    }

    /// The list is what the changes lead to.
    async fn check_state(&self, kv: &Embedded, cut: usize) {
        let listed = kv.list(ListRequest::new("")).await.unwrap().kvs;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let found: BTreeMap<_, _> =
            listed.iter().map(|kv| (text(&kv.key), (text(&kv.value), kv.mod_revision.0))).collect();
        assert_eq!(found, self.state, "cut {cut}");
        for kv in listed {
            assert!(kv.lease.is_none_or(|lease| !self.ended.contains(&lease)), "cut {cut}: {kv:?}");
        }
    }

    async fn check_leases(&mut self, kv: &Embedded, round: &Round, cut: usize) {
        self.leases.extend(round.granted.iter().map(|(id, ttl)| (*id, *ttl)));
        for (id, acknowledged) in &round.ending {
            self.leases.remove(id);
            if *acknowledged {
                self.ended.insert(*id);
            }
        }
        for (id, ttl) in &self.leases {
            let info = kv.lease_info(*id).await;
            assert_eq!(info.map(|info| info.granted).ok(), Some(*ttl), "cut {cut}: lease {id}");
        }
        for id in &self.ended {
            let error = kv.lease_info(*id).await.unwrap_err();
            assert_eq!(error.kind(), KvErrorKind::LeaseNotFound, "cut {cut}: lease {id}");
        }
    }
}

/// Runs writers until the power goes. Tells what is known of the round, and what a watch saw.
async fn run_round(
    rig: &Rig,
    known: &Known,
    cut: usize,
    random: &mut Random,
) -> (Round, BTreeMap<i64, Vec<Change>>) {
    let mark = rig.dir.path().join("acknowledged");
    let round =
        Round { mark: std::fs::read(&mark).unwrap(), granted: known.leases.clone(), ..Round::default() };
    let round = Arc::new(Mutex::new(round));
    let watching = tokio::spawn(watcher(watch_from(&rig.kv, known.head + 1).await));
    let moment = [Moment::Before, Moment::Written, Moment::Synced][random.below(3)];
    rig.disk.cut_power(random.below(40), moment);
    let mut tasks: Vec<_> = (0..WRITERS)
        .map(|number| tokio::spawn(writer(rig.kv.clone(), Arc::clone(&round), number, cut, mark.clone())))
        .collect();
    tasks.push(tokio::spawn(leaser(rig.kv.clone(), Arc::clone(&round))));
    tasks.push(tokio::spawn(compactor(rig.kv.clone(), Arc::clone(&round), known.compacted, known.head - 10)));
    for task in join_all(tasks).await {
        task.unwrap();
    }
    rig.kv.close().await;
    let seen = watching.await.unwrap();
    (std::mem::take(&mut *round.lock().unwrap()), seen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn power_cuts_lose_nothing_that_was_acknowledged_or_seen() {
    let cuts = times("KUBESTORE_CUTS", 100);
    let mut random = Random(0x5eed);
    let mut rig = Rig::new().await;
    let mut known = Known { head: 1, ..Known::default() };
    let (mut acknowledged, mut dropped, mut survived) = (0, 0, 0);
    for cut in 0..cuts {
        let (round, seen) = run_round(&rig, &known, cut, &mut random).await;
        acknowledged += round.acknowledged.len();
        let unsynced = rig.disk.unsynced();
        let survive = random.below(unsynced + 1);
        (dropped, survived) = (dropped + unsynced - survive, survived + survive);
        rig.disk.restore_power(survive);
        // The mark is not synced: any of its contents since the opening may be the one on disk.
        if random.below(2) == 0 {
            std::fs::write(rig.dir.path().join("acknowledged"), &round.mark).unwrap();
        }
        std::fs::write(rig.dir.path().join("lock"), ["", "1\n"][random.below(2)]).unwrap();
        rig.kv = open(&rig.dir, &rig.disk, &rig.clock).await;
        known.check(&rig.kv, &round, &seen, cut).await;
    }
    eprintln!(
        "{cuts} cuts, {acknowledged} writes acknowledged, {dropped} unsynced batches lost, {survived} kept"
    );
    assert!(acknowledged > cuts * 10, "{acknowledged} writes are too few to mean anything");
    assert!(dropped > cuts / 8 && survived > cuts / 8, "{dropped} batches lost, {survived} kept");
}
