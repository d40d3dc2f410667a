//! Running many scenarios.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Result;
use tokio::task::JoinSet;

use super::{
    backend::{Backends, Seat},
    report::{Report, ScenarioReport, StepFailure},
    session::Session,
};
use crate::{
    differences,
    recording::{Loaded, Scenario},
};

/// How scenarios are run.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// How many at once; none is what suits the machine.
    pub jobs: Option<usize>,
    /// Compare the requests to etcd too.
    pub trace: bool,
    /// Revisions to put before each scenario; at least 1.
    pub pad: u32,
    /// The expectations are kubestore's already.
    pub own: bool,
}

impl Options {
    /// So many at once.
    #[must_use]
    pub fn with_jobs(mut self, jobs: Option<usize>) -> Self {
        self.jobs = jobs;
        self
    }

    /// Whether the requests to etcd are compared too.
    #[must_use]
    pub fn with_trace(mut self, trace: bool) -> Self {
        self.trace = trace;
        self
    }

    /// Whether what is expected is what kubestore should do, rather than what the reference did.
    #[must_use]
    pub fn with_own(mut self, own: bool) -> Self {
        self.own = own;
        self
    }

    /// So many revisions before each scenario.
    #[must_use]
    pub fn with_pad(mut self, pad: u32) -> Self {
        self.pad = pad;
        self
    }
}

/// Runs scenarios, several at once where that is possible, and calls `done` for each as it ends.
///
/// # Errors
/// There is no backend. What goes wrong within a scenario is in the report.
pub async fn replay(
    scenarios: Vec<Loaded>,
    backends: &Backends,
    options: Options,
    done: impl Fn(&ScenarioReport) + Send + Sync + 'static,
) -> Result<Report> {
    let mut first = backends.seat();
    let running = first.take(false).await?;
    first.give_back(running, false);
    let mut first = Some(first);
    let parallel = backends.parallel(options.jobs).min(scenarios.len());
    let queue: VecDeque<_> = scenarios.into_iter().enumerate().collect();
    let (queue, done) = (Arc::new(Mutex::new(queue)), Arc::new(done));
    let mut seats = JoinSet::new();
    for _ in 0..parallel {
        let (queue, done) = (Arc::clone(&queue), Arc::clone(&done));
        let mut seat = first.take().unwrap_or_else(|| backends.seat());
        seats.spawn(async move {
            let mut reports = Vec::new();
            loop {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some((number, loaded)) = next else { return reports };
                let report = run_one(&mut seat, &loaded, options).await;
                done(&report);
                reports.push((number, report));
            }
        });
    }
    let mut reports: Vec<_> = seats.join_all().await.into_iter().flatten().collect();
    reports.sort_by_key(|(number, _)| *number);
    Ok(Report { scenarios: reports.into_iter().map(|(_, report)| report).collect() })
}

async fn run_one(seat: &mut Seat, loaded: &Loaded, options: Options) -> ScenarioReport {
    let mut report = ScenarioReport {
        source: loaded.source.clone(),
        name: loaded.scenario.name.clone(),
        steps: loaded.scenario.steps.len(),
        revision_only: 0,
        problem: None,
        failures: Vec::new(),
    };
    let scenario = if options.own { loaded.scenario.clone() } else { differences::applied(&loaded.scenario) };
    report.revision_only = differences::revision_only(&scenario.steps);
    match expect(seat, scenario, options).await {
        Ok(failures) => report.failures = failures,
        Err(error) => report.problem = Some(format!("it could not be run: {error:#}")),
    }
    report
}

/// Runs a scenario whose expectations are kubestore's.
pub(super) async fn expect(
    seat: &mut Seat,
    scenario: Scenario,
    options: Options,
) -> Result<Vec<StepFailure>> {
    let fresh = scenario.config.fresh_etcd;
    let running = seat.take(fresh).await?;
    let kv = Arc::clone(&running.kv);
    // In a task of its own, so that a panic is that scenario's alone.
    let session = tokio::spawn(async move {
        let mut session = Session::start(kv, &scenario, options.pad, options.trace).await?;
        session.run(&scenario.steps).await;
        session.finish().await
    });
    let failures = session.await??;
    seat.give_back(running, fresh);
    Ok(failures)
}
