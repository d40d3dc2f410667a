//! Many clients that create, update, delete, read, list, count and watch at once, whatever goes wrong, and a judgement on
//! what they were told.

mod client;
mod counter;
mod tally;
mod watcher;

use std::{
    collections::BTreeMap,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use kubestore_conformance::history::{Historian, Report};
use kubestore_kv::{GetRequest, Kv, PutRequest};
use tokio::{sync::watch, task::JoinSet};

pub use self::{counter::Count, tally::Tally};
use crate::dice::Dice;

/// What is done.
#[derive(Clone, Debug)]
#[must_use]
pub struct Workload {
    seed: u64,
    clients: usize,
    keys: usize,
    counters: usize,
    watchers: usize,
    steps: usize,
    pause: Duration,
    compact_every: Option<Duration>,
    recovery: Duration,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// Whether what the clients were told can be.
    pub report: Report,
    /// The counters, by how they are counted.
    pub counts: Vec<Count>,
    /// What the clients met.
    pub tally: Tally,
    /// How long they worked.
    pub time: Duration,
}

/// What everybody has in common.
#[derive(Clone, Debug)]
struct Shared {
    workload: Workload,
    stop: watch::Receiver<bool>,
}

/// All keys begin with it.
const PREFIX: &str = "/registry/work/";

/// So many revisions are not compacted.
pub const KEPT: i64 = 500;

/// Written when all is done, so that watches know that nothing follows.
const MARKER: &str = "/registry/work/~end";

impl Workload {
    /// 8 clients on 8 keys, 2 counters, 3 watches, no compaction, no pause, no end.
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            clients: 8,
            keys: 8,
            counters: 2,
            watchers: 3,
            steps: usize::MAX,
            pause: Duration::ZERO,
            compact_every: None,
            recovery: Duration::from_secs(60),
        }
    }

    /// So many clients, each in a task of its own.
    pub fn clients(mut self, clients: usize) -> Self {
        self.clients = clients;
        self
    }

    /// So many keys, which all clients write to.
    pub fn keys(mut self, keys: usize) -> Self {
        self.keys = keys;
        self
    }

    /// Each client does so many steps.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Each client waits up to so long between operations.
    pub fn pause(mut self, longest: Duration) -> Self {
        self.pause = longest;
        self
    }

    /// History is forgotten so often, but for the last [`KEPT`] revisions.
    pub fn compact_every(mut self, interval: Duration) -> Self {
        self.compact_every = Some(interval);
        self
    }

    /// How long after the end the backend may take to answer again, and watches to catch up; 60 s unless said otherwise.
    pub fn recovery(mut self, time: Duration) -> Self {
        self.recovery = time;
        self
    }

    /// Works until `ending` completes or all clients have done their steps, waits until the backend answers and the watches
    /// have caught up, and judges. A watch that does not catch up is found to miss events. `connect` gives the client of that number its backend.
    ///
    /// # Errors
    /// The backend does not come back.
    ///
    /// # Panics
    /// A client did.
    pub async fn run(
        self,
        connect: impl Fn(usize) -> Arc<dyn Kv>,
        ending: impl Future<Output = ()>,
    ) -> Result<Outcome> {
        let historian = Historian::new();
        let (stopping, stop) = watch::channel(false);
        let shared = Shared { workload: self.clone(), stop };
        let mut numbers = 0..;
        let mut client = || historian.client(connect(numbers.next().unwrap_or_default()));
        let counters = counter::Counters::new(self.counters);
        let first = counters.create(&client()).await.context("the counters")?;

        let mut watching = JoinSet::new();
        for number in 0..self.watchers {
            watching.spawn(watcher::follow(client(), number, first));
        }
        let mut working = JoinSet::new();
        let dice = Dice::seeded(self.seed);
        for number in 0..self.clients {
            let (kv, dice) = (client(), dice.of(number as u64));
            working.spawn(client::work(kv, shared.clone(), counters.clone(), dice));
        }
        let compacting = tokio::spawn(client::compact(client(), shared.clone()));
        let begun = Instant::now();
        let mut tally = Tally::default();
        tokio::select! {
            () = ending => {}
            finished = finish(&mut working, &mut tally) => finished?,
        }
        let time = begun.elapsed();
        stopping.send_replace(true);
        finish(&mut working, &mut tally).await?;
        tally.add(compacting.await.context("the compactor failed")?);
        let (last, recovery) = (client(), self.recovery);
        let back = async {
            // What was sent before may be applied even after this.
            let create = || last.optimistic_put(PutRequest::create(MARKER, "all is done"));
            counter::retried(create).await?;
            let marker = counter::retried(|| last.get(GetRequest::new(MARKER))).await?.kv;
            let marker = marker.context("the marker is gone")?.mod_revision;
            anyhow::Ok((marker, counters.read(&last).await?))
        };
        let back = tokio::time::timeout(recovery, back).await;
        let (marker, counts) =
            back.with_context(|| format!("the backend does not answer after {recovery:?}"))??;
        let mut open = Vec::new();
        let catching_up = async {
            while let Some(followed) = watching.join_next().await {
                open.push(followed.context("a watcher failed")?);
            }
            anyhow::Ok(())
        };
        if let Ok(caught_up) = tokio::time::timeout(recovery, catching_up).await {
            caught_up?;
        }
        tally.add_reopened(open.iter().map(|followed| followed.reopened).sum());
        let report = historian.settled(marker).check();
        drop((open, watching));
        Ok(Outcome { report, counts, tally, time })
    }
}

impl Outcome {
    /// All that must hold.
    ///
    /// # Errors
    /// Something does not; all of it is named.
    pub fn verify(&self) -> Result<()> {
        ensure!(self.report.is_clean(), "{}", self.report);
        for count in &self.counts {
            ensure!(count.is_possible(), "{count}");
        }
        Ok(())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:.1} s: {}", self.time.as_secs_f64(), self.report)?;
        self.counts.iter().try_for_each(|count| writeln!(f, "{count}"))?;
        write!(f, "{}", self.tally)
    }
}

/// Waits for clients to finish.
async fn finish(working: &mut JoinSet<Tally>, tally: &mut Tally) -> Result<()> {
    while let Some(worked) = working.join_next().await {
        tally.add(worked.context("a client failed")?);
    }
    Ok(())
}

fn by_kind(errors: &BTreeMap<String, usize>) -> String {
    let texts: Vec<_> = errors.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}
