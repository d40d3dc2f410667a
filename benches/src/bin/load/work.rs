//! The workloads.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{
    Outcome,
    arguments::{Arguments, Work},
    backend::Backend,
    measure::Meter,
    side::Side,
    stored::Encoded,
    watch,
};

/// Whole lists of one measurement.
const LISTS: usize = 3;

/// Counts of one measurement.
const COUNTS: usize = 200;

pub(crate) struct Bench {
    pub(crate) arguments: Arguments,
    pub(crate) backend: Backend,
    pub(crate) encoded: Encoded,
    pub(crate) side: Arc<dyn Side>,
    pub(crate) round: usize,
}

/// What one call of a workload does.
#[derive(Clone, Copy)]
enum Call {
    Create,
    Get,
    Update,
    UpdateNoop,
    UpdateFirst,
    Count,
    Delete,
}

impl Bench {
    pub(crate) async fn run(&self, work: Work) -> Outcome<()> {
        if work != Work::Create {
            self.fill().await?;
        }
        match work {
            Work::Create => self.create().await,
            Work::Get => self.at_each_concurrency(work, Call::Get).await,
            Work::Update => self.at_each_concurrency(work, Call::Update).await,
            Work::Delete => self.delete().await,
            Work::UpdateContend16 => {
                self.each(work, Call::UpdateFirst, 16, 0, (self.small() / 2).max(200)).await
            }
            Work::UpdateNoop => self.each(work, Call::UpdateNoop, 1, 0, self.small()).await,
            Work::Count => self.each(work, Call::Count, 1, 0, COUNTS).await,
            Work::ListAll => self.list(work, 0, None).await,
            Work::ListPaged500 => self.list(work, 500, None).await,
            Work::ListSel1Pct => self.list(work, 500, Some("node-042")).await,
            Work::ListStream => self.list_stream().await,
            Work::WatchReplay => watch::replay(self).await,
            Work::WatchLive => watch::live(self).await,
        }
    }

    /// Everything as it was in the beginning: an earlier workload may have changed it, or another process.
    async fn fill(&self) -> Outcome<()> {
        self.backend.fill(self.encoded.pairs(self.arguments.objects)).await
    }

    async fn clean(&self) -> Outcome<()> {
        self.backend.clean(&format!("{}/", self.arguments.prefix)).await
    }

    /// Calls of a workload that runs one at a time.
    fn small(&self) -> usize {
        let objects = self.arguments.objects;
        self.arguments.writes.map_or(objects / 5, |writes| writes.min(objects / 2)).max(1)
    }

    pub(crate) fn meter(&self, work: Work, conc: usize) -> Outcome<Meter> {
        Meter::start(&work.name(), conc, self.round, &self.arguments)
    }

    async fn at_each_concurrency(&self, work: Work, call: Call) -> Outcome<()> {
        for conc in self.arguments.conc.iter().copied() {
            let calls = if conc == 1 { self.small() } else { self.arguments.objects };
            self.each(work, call, conc, 0, calls).await?;
        }
        Ok(())
    }

    async fn create(&self) -> Outcome<()> {
        self.clean().await?;
        let result = self.in_shares(Work::Create, Call::Create).await;
        self.side.prepare(0)?;
        result
    }

    async fn delete(&self) -> Outcome<()> {
        self.in_shares(Work::Delete, Call::Delete).await?;
        self.clean().await
    }

    /// Each object is created or deleted once: a few one at a time, the others by many.
    async fn in_shares(&self, work: Work, call: Call) -> Outcome<()> {
        self.side.prepare(if matches!(call, Call::Create) { self.arguments.objects } else { 0 })?;
        let mut first = 0;
        for (position, conc) in self.arguments.conc.iter().copied().enumerate() {
            let rest = self.arguments.objects - first;
            let last = position + 1 == self.arguments.conc.len();
            let calls = if conc == 1 && !last { self.small().min(rest) } else { rest };
            self.each(work, call, conc, first, calls).await?;
            first += calls;
        }
        Ok(())
    }

    /// `calls` calls by `conc` tasks, from the number `first` on.
    async fn each(&self, work: Work, call: Call, conc: usize, first: usize, calls: usize) -> Outcome<()> {
        if calls == 0 {
            return Ok(());
        }
        let next = Arc::new(AtomicUsize::new(first));
        let tag = format!("{}-{conc}-", self.round);
        let mut meter = self.meter(work, conc)?;
        let mut tasks = JoinSet::new();
        for _ in 0..conc {
            let (side, next, tag) = (Arc::clone(&self.side), Arc::clone(&next), tag.clone());
            let objects = self.arguments.objects;
            tasks.spawn(async move {
                let mut latencies = Vec::with_capacity(calls / conc);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= first + calls {
                        return Ok::<Vec<Duration>, Box<dyn std::error::Error + Send + Sync>>(latencies);
                    }
                    let began = Instant::now();
                    make(call, &*side, number, objects, &tag).await?;
                    latencies.push(began.elapsed());
                }
            });
        }
        while let Some(latencies) = tasks.join_next().await {
            meter.latencies.extend(latencies??);
        }
        meter.stop(calls, calls)
    }

    async fn list(&self, work: Work, limit: i64, node: Option<&str>) -> Outcome<()> {
        let mut meter = self.meter(work, 1)?;
        let (mut calls, mut objects) = (0, 0);
        for _ in 0..LISTS {
            let began = Instant::now();
            let listed = self.side.list(limit, node).await?;
            meter.latencies.push(began.elapsed());
            (calls, objects) = (calls + listed.0, objects + listed.1);
        }
        meter.note(format!(
            "{LISTS} lists, {calls} calls, {objects} objects returned; latency is that of one whole list"
        ));
        meter.stop(LISTS, LISTS * self.arguments.objects)
    }

    async fn list_stream(&self) -> Outcome<()> {
        let mut meter = self.meter(Work::ListStream, 1)?;
        let mut parts = 0;
        for _ in 0..LISTS {
            let began = Instant::now();
            let (count, objects) = self.side.list_stream().await?;
            meter.latencies.push(began.elapsed());
            parts += count;
            if objects != self.arguments.objects {
                return Err(format!("{objects} objects were listed").into());
            }
        }
        meter.note(format!("{LISTS} lists, {parts} parts; latency is that of one whole list"));
        meter.stop(LISTS, LISTS * self.arguments.objects)
    }
}

async fn make(call: Call, side: &dyn Side, number: usize, objects: usize, tag: &str) -> Outcome<()> {
    // A stride without a common divisor visits every object once before the first comes again.
    let scattered = number.wrapping_mul(7_919) % objects;
    match call {
        Call::Create => side.create(number).await,
        Call::Get => side.get(scattered).await,
        Call::Update => side.update(number, &format!("{tag}{number}")).await,
        Call::UpdateFirst => side.update(0, &format!("{tag}{number}")).await,
        Call::UpdateNoop => side.update(number, "").await,
        Call::Delete => side.delete(number).await,
        Call::Count => match side.count().await? {
            count if usize::try_from(count) == Ok(objects) => Ok(()),
            count => Err(format!("{count} objects were counted").into()),
        },
    }
}
