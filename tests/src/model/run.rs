//! Running steps on the model.

use std::time::Duration;

use anyhow::Result;

use super::Model;
use crate::{
    recording::{Action, Source, Step, Validation},
    replay::{Performed, StepResult, transformer},
};

impl Model {
    /// Runs a top-level step and writes down what it should come to, also for the steps inside its function.
    pub(crate) fn run(&mut self, step: &mut Step) -> Result<()> {
        let result = self.step(step)?;
        self.results.steps.push(result);
        Ok(())
    }

    /// Runs the steps inside a function.
    pub(super) fn run_nested(&mut self, steps: &mut [Step]) -> Result<()> {
        for step in steps {
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &mut Step) -> Result<StepResult> {
        // Leases are compared by time, and no two grants are made in the same instant.
        self.now += Duration::from_micros(1);
        let Performed { mut seen, result } = self.perform(&mut step.action)?;
        seen.source = Source::Model;
        seen.rev = Some(self.notation.base.relative(self.keys.head));
        step.expect = Some(seen);
        self.tell();
        Ok(result)
    }

    fn perform(&mut self, action: &mut Action) -> Result<Performed> {
        Ok(match action {
            Action::Update(update) => {
                let mut nested = std::mem::take(&mut update.attempt.steps);
                nested.iter_mut().for_each(|step| step.expect = None);
                let performed = self.update(update, &mut nested);
                update.attempt.steps = nested;
                performed?
            }
            Action::Delete(delete) => {
                let mut nested = match &mut delete.validate {
                    Some(Validation::Rules(rules)) => std::mem::take(&mut rules.steps),
                    _ => Vec::new(),
                };
                nested.iter_mut().for_each(|step| step.expect = None);
                let performed = self.delete(delete, &mut nested);
                if let Some(Validation::Rules(rules)) = &mut delete.validate {
                    rules.steps = nested;
                }
                performed?
            }
            Action::Create(step) => self.create(step)?,
            Action::Get(step) => self.get(step)?,
            Action::List(step) => self.list(step)?,
            Action::Count(step) => self.count(step)?,
            Action::Watch(step) => self.watch(step)?,
            Action::Events(step) => self.events(&step.id, step.count)?,
            Action::Quiet(step) => self.quiet(&step.id)?,
            Action::Stop(step) => self.stop(&step.id)?,
            Action::Closed(step) => self.closed(&step.id)?,
            Action::RequestWatchProgress => self.request_progress(),
            Action::Readiness => Performed::nothing(),
            Action::Compact(step) => self.compact(step)?,
            Action::RawPut(step) => self.raw_put(step)?,
            Action::RawDelete(step) => self.raw_delete(step),
            Action::RawCopy(step) => self.raw_copy(step),
            Action::RawGet(step) => self.raw_get(step),
            Action::LeaseOf(step) => self.lease_of(step),
            Action::RevokeLease(step) => self.revoke_lease(step),
            Action::UseTransformer(step) => {
                self.transformer = transformer(&step.transformer)?;
                self.leases.forget();
                Performed::nothing()
            }
            Action::Sleep(step) => {
                self.sleep(Duration::from_millis(step.ms));
                Performed::nothing()
            }
        })
    }

    fn sleep(&mut self, time: Duration) {
        self.now += time;
        for lease in self.leases.over(self.now) {
            self.end_lease(lease);
        }
    }
}
