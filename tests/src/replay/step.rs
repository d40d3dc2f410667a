//! One step: it is run, and what came is compared.

use std::time::Duration;

use anyhow::{Result, anyhow};
use futures_util::future::BoxFuture;

use super::{arguments::StepResult, report::StepFailure, seen::Performed, session::Session};
use crate::{
    compare::compare,
    recording::{Action, Step},
};

/// No step takes so long.
const LIMIT: Duration = Duration::from_secs(60);

impl Session {
    /// Runs all steps in order.
    pub(crate) async fn run(&mut self, steps: &[Step]) {
        for (number, step) in steps.iter().enumerate() {
            let result = match self.run_step(step, number.to_string()).await {
                Ok(result) => result,
                // What hangs once hangs again, and nothing after it would say more.
                Err(Hung) => return,
            };
            self.results.steps.push(result);
        }
    }

    /// Runs the steps inside a function, on its first call.
    pub(super) async fn run_nested(&mut self, steps: &[Step], number: &str) {
        for (position, step) in steps.iter().enumerate() {
            let number = format!("{number}.{position}");
            if step.expect.is_none() {
                let problem = "it was not run when it was recorded, but its function is called now";
                self.failures.push(StepFailure::problem(number, &step.action, problem.to_owned()));
                continue;
            }
            self.ran.insert(number.clone());
            if self.run_step(step, number).await.is_err() {
                return;
            }
        }
    }

    fn run_step<'a>(&'a mut self, step: &'a Step, number: String) -> BoxFuture<'a, Result<StepResult, Hung>> {
        Box::pin(async move {
            self.traced.begin();
            let performed = tokio::time::timeout(LIMIT, self.perform(&step.action, &number)).await;
            let etcd = self.traced.end();
            let Ok(performed) = performed else {
                let problem = format!("it did not end within {} s", LIMIT.as_secs());
                self.failures.push(StepFailure::problem(number, &step.action, problem));
                return Err(Hung);
            };
            self.check_nested(&step.action, &number);
            match self.check(step, performed, etcd, &number).await {
                Ok(result) => Ok(result),
                Err(error) => {
                    let problem = format!("it could not be run: {error:#}");
                    self.failures.push(StepFailure::problem(number, &step.action, problem));
                    Ok(StepResult::default())
                }
            }
        })
    }

    async fn check(
        &mut self,
        step: &Step,
        performed: Result<Performed>,
        etcd: Option<Vec<String>>,
        number: &str,
    ) -> Result<StepResult> {
        let Performed { mut seen, result } = performed?;
        // What a watch asks for was not recorded, and the reference is ready without asking.
        seen.etcd = etcd.filter(|_| !matches!(step.action, Action::Watch(_) | Action::Readiness));
        seen.rev = Some(self.revision().await?);
        let expected = step.expect.as_ref().ok_or_else(|| anyhow!("it has no expectation"))?;
        let differences = compare(expected, &seen, self.trace);
        if !differences.is_empty() {
            let title = step.action.title();
            self.failures.push(StepFailure { number: number.to_owned(), title, differences, problem: None });
        }
        Ok(result)
    }

    /// Steps inside a function that were run when recorded are run now.
    fn check_nested(&mut self, action: &Action, number: &str) {
        for (position, nested) in action.nested().iter().enumerate() {
            let number = format!("{number}.{position}");
            if nested.expect.is_some() && !self.ran.contains(&number) {
                let problem = "it was run when it was recorded, but its function is not called now";
                self.failures.push(StepFailure::problem(number, &nested.action, problem.to_owned()));
            }
        }
    }

    async fn perform(&mut self, action: &Action, number: &str) -> Result<Performed> {
        match action {
            Action::Create(step) => self.create(step).await,
            Action::Get(step) => self.get(step).await,
            Action::Delete(step) => self.delete(step, number).await,
            Action::Update(step) => self.update(step, number).await,
            Action::List(step) => self.list(step).await,
            Action::Count(step) => self.count(step).await,
            Action::Readiness => self.readiness().await,
            Action::Watch(step) => self.watch(step).await,
            Action::Events(step) => self.events(step).await,
            Action::Quiet(step) => self.quiet(step).await,
            Action::Stop(step) => self.stop(step),
            Action::Closed(step) => self.closed(step).await,
            Action::RequestWatchProgress => self.request_progress().await,
            Action::Compact(step) => self.compact(step).await,
            Action::RawPut(step) => self.raw_put(step).await,
            Action::RawDelete(step) => self.raw_delete(step).await,
            Action::RawCopy(step) => self.raw_copy(step).await,
            Action::RawGet(step) => self.raw_get(step).await,
            Action::LeaseOf(step) => self.lease_of(step).await,
            Action::RevokeLease(step) => self.revoke_lease(step).await,
            Action::UseTransformer(step) => {
                self.rebuild(&step.transformer)?;
                Ok(Performed::nothing())
            }
            Action::Sleep(step) => {
                tokio::time::sleep(Duration::from_millis(step.ms)).await;
                Ok(Performed::nothing())
            }
        }
    }
}

/// A step did not end; the scenario is over.
struct Hung;
