//! `kill -9` at random moments: what was acknowledged is there, whole, and revisions go on.

#![cfg(feature = "durable")]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

use common::{
    child::{Running, die_with_parent, tell},
    done,
};
use kubestore_embedded::Embedded;
use kubestore_kv::{DeleteRequest, Expect, GetRequest, Kv, KvErrorKind, ListRequest, PutRequest, Revision};
use tempfile::TempDir;

const CHILD: &str = "KUBESTORE_TEST_KILLED";
const WRITERS: usize = 8;
const KEYS: u64 = 12;
/// In the usual run; the variable `KUBESTORE_KILLS` asks for more.
const KILLS: u64 = 25;

/// What a writer's key holds after its n-th write; every fifth write is a deletion.
fn value(writer: usize, write: u64) -> Option<String> {
    let length = [1, 40, 900, 5000, 30_000][usize::try_from(write % 5).unwrap()] / 8 + 1;
    (write % 5 != 4).then(|| format!("{writer}/{write:06}|").repeat(length))
}

fn key(writer: usize, write: u64) -> String {
    format!("w{writer}/{:02}", write / 5 % KEYS)
}

/// Not a test by itself: the process that the next one kills. It does nothing when nobody asks for it.
///
/// Tells each write after its acknowledgement, as `writer write revision`, and each compaction as `compacted revision`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_the_killed_process() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    die_with_parent();
    let kv = Embedded::open(Path::new(&dir)).await.unwrap();
    let starts = progress(&kv).await;
    let lease = kv.grant_lease(Duration::from_secs(1_000_000)).await.unwrap().id;
    tell("open");
    let writers = starts.into_iter().enumerate().map(|(writer, start)| {
        let kv = kv.clone();
        tokio::spawn(async move {
            if let Some(last) = start.checked_sub(1) {
                common::put(&kv, &counter(writer), &last.to_string()).await;
            }
            for write in start.. {
                let key = key(writer, write);
                let current = kv.get(GetRequest::new(key.clone())).await.unwrap().kv;
                let at = current.map_or(Revision(0), |kv| kv.mod_revision);
                let outcome = match value(writer, write) {
                    Some(value) => {
                        let request = PutRequest::update(key, value, at).with_expect(Expect::ModRevision(at));
                        kv.optimistic_put(request.with_lease((write % 3 == 0).then_some(lease))).await
                    }
                    None => kv.optimistic_delete(DeleteRequest::new(key, at)).await,
                };
                let revision = done(outcome);
                common::put(&kv, &counter(writer), &write.to_string()).await;
                tell(&format!("{writer} {write} {revision}"));
            }
        })
    });
    let compactor = tokio::spawn({
        let kv = kv.clone();
        async move {
            loop {
                tokio::time::sleep(Duration::from_millis(30)).await;
                let head = kv.status().await.unwrap().head.0;
                match kv.compact(Revision(head - 50)).await {
                    Ok(()) => tell(&format!("compacted {}", head - 50)),
                    Err(error) => assert_eq!(error.kind(), KvErrorKind::Compacted, "{error}"),
                }
            }
        }
    });
    futures_util::future::join_all(writers).await;
    compactor.await.unwrap();
}

fn counter(writer: usize) -> String {
    format!("counter/{writer}")
}

/// The next write of each writer.
async fn progress(kv: &Embedded) -> Vec<u64> {
    let mut next = vec![0; WRITERS];
    for (writer, next) in next.iter_mut().enumerate() {
        if let Some(text) = common::value(kv, &counter(writer)).await {
            *next = text.parse::<u64>().unwrap() + 1;
        }
        // The write after the last counted one may be there, too.
        let (key, wanted) = (key(writer, *next), value(writer, *next));
        if *next > 0 && common::value(kv, &key).await == wanted {
            *next += 1;
        }
    }
    next
}

/// What the parent knows to be acknowledged.
#[derive(Default)]
struct Acknowledged {
    /// The last write of each writer.
    writes: BTreeMap<usize, u64>,
    revision: i64,
    compacted: i64,
    count: usize,
}

impl Acknowledged {
    fn note(&mut self, line: &str) {
        let fields: Vec<_> = line.split(' ').collect();
        match fields[..] {
            ["compacted", revision] => self.compacted = self.compacted.max(revision.parse().unwrap()),
            [writer, write, revision] => {
                let (Ok(writer), Ok(write), Ok(revision)) =
                    (writer.parse(), write.parse(), revision.parse::<i64>())
                else {
                    return;
                };
                self.writes.insert(writer, write);
                self.revision = self.revision.max(revision);
                self.count += 1;
            }
            _ => {}
        }
    }

    async fn check(&self, kv: &Embedded, round: u64) {
        let status = kv.status().await.unwrap();
        assert!(status.head.0 >= self.revision, "round {round}: revision {} is missing", self.revision);
        assert!(status.compacted.unwrap().0 >= self.compacted, "round {round}: a compaction is missing");
        for (&writer, &last) in &self.writes {
            let counted: u64 = common::value(kv, &counter(writer)).await.unwrap().parse().unwrap();
            assert!(counted >= last, "round {round}: write {last} of writer {writer} is missing");
            let listed = kv.list(ListRequest::new(format!("w{writer}/"))).await.unwrap().kvs;
            let found: BTreeMap<_, _> =
                listed.iter().map(|kv| (common::text(&kv.key), common::text(&kv.value))).collect();
            // Up to the last counted write everything is certain; the next may be there or not.
            let with = |writes: u64| {
                let mut expected = BTreeMap::new();
                for write in 0..writes {
                    match value(writer, write) {
                        Some(value) => expected.insert(key(writer, write), value),
                        None => expected.remove(&key(writer, write)),
                    };
                }
                expected
            };
            assert!(
                found == with(counted + 1) || found == with(counted + 2),
                "round {round}: writer {writer} after {counted}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_lose_nothing_that_was_acknowledged() {
    let kills = std::env::var("KUBESTORE_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let dir = TempDir::new().unwrap();
    let mut acknowledged = Acknowledged::default();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut openings = Vec::new();
    for round in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Now and then before the first acknowledgement.
        let wait_for = usize::try_from(random >> 33).unwrap() % 64;
        let mut child = Running::start("as_the_killed_process", CHILD, dir.path().as_os_str());
        if round % 10 == 9 {
            // While it opens, or soon after.
            tokio::time::sleep(Duration::from_millis(random >> 57)).await;
        } else {
            assert!(child.tells("open"), "round {round}: the directory does not open");
            let target = acknowledged.count + wait_for;
            while acknowledged.count < target {
                match child.line() {
                    Some(line) => acknowledged.note(&line),
                    None => panic!("round {round}: the writers stopped by themselves"),
                }
            }
        }
        child.kill();
        while let Some(line) = child.line() {
            acknowledged.note(&line);
        }

        let started = Instant::now();
        let kv = Embedded::open(dir.path()).await.unwrap();
        openings.push(started.elapsed());
        acknowledged.check(&kv, round).await;
        let head = common::head(&kv).await;
        let request = PutRequest::create(format!("round/{round}"), "x");
        assert_eq!(done(kv.optimistic_put(request).await), head + 1, "round {round}: revisions go on");
        acknowledged.revision = head + 1;
    }
    let kv = Embedded::open(dir.path()).await.unwrap();
    assert_eq!(kv.count("round/".into()).await.unwrap(), i64::try_from(kills).unwrap());
    openings.sort_unstable();
    eprintln!(
        "{kills} kills, {} writes acknowledged; opening took {:?}, at most {:?}",
        acknowledged.count,
        openings[openings.len() / 2],
        openings[openings.len() - 1]
    );
    let few = usize::try_from(kills).unwrap() * 16;
    assert!(acknowledged.count > few, "{} writes are too few to mean anything", acknowledged.count);
}
