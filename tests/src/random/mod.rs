//! Scenarios at random, with what they should come to by the model: the store on every backend is held against that.

mod maker;
mod pods;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use self::maker::Maker;
use crate::{
    dice::Dice,
    model::{Behaviour, Model},
    recording::{Loaded, Scenario, Step},
};

/// A scenario of about so many steps, chosen by this seed. It is made while the model runs it, so that most steps mean
/// something.
///
/// # Errors
/// The model cannot follow, which is its fault.
pub fn random(seed: u64, steps: usize) -> Result<Loaded> {
    let name = format!("random-{seed}");
    let mut dice = Dice::seeded(seed);
    let config = json!({
        "transformer": pods::transformer(&mut dice),
        "lease": { "reuseSeconds": *dice.pick(&[0, 60]), "maxObjectCount": 1 + dice.below(3) },
    });
    let mut scenario: Scenario =
        serde_json::from_value(json!({ "name": name, "config": config, "steps": [] }))?;
    let mut run = Run { model: Model::new(&scenario, Behaviour::Own)?, steps: Vec::new() };
    let mut maker = Maker::new(dice);
    while run.steps.len() < steps {
        maker.next(&mut run).with_context(|| format!("{name}, step {}", run.steps.len()))?;
    }
    maker.last(&mut run)?;
    scenario.steps = run.steps;
    Ok(Loaded { source: "random".to_owned(), scenario })
}

/// A scenario in the making.
struct Run {
    model: Model,
    steps: Vec<Step>,
}

impl Run {
    /// Adds a step, and gives what the model says that it comes to.
    fn add(&mut self, step: &Value) -> Result<Came> {
        let text = step.to_string();
        let mut step: Step = serde_json::from_value(step.clone()).with_context(|| text.clone())?;
        self.model.run(&mut step).context(text)?;
        let expect = step.expect.clone().unwrap_or_default();
        let came = Came { number: self.steps.len(), ok: expect.ok, err: expect.err, head: self.model.head() };
        self.steps.push(step);
        Ok(came)
    }
}

/// What a step came to.
struct Came {
    number: usize,
    ok: Option<Value>,
    err: Option<Value>,
    head: i64,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::recording::Action;

    #[test]
    fn random_scenarios_are_the_same_each_time_and_touch_everything() {
        let scenarios: Vec<_> = (0..10).map(|seed| random(seed, 100).unwrap().scenario).collect();
        let again = random(3, 100).unwrap().scenario;
        assert_eq!(format!("{:?}", scenarios[3]), format!("{again:?}"));

        let mut counts = BTreeMap::<String, (usize, usize)>::new();
        let steps = scenarios.iter().flat_map(|scenario| &scenario.steps);
        for step in steps {
            let title = step.action.title();
            let (done, failed) = counts.entry(title.split(' ').next().unwrap().to_owned()).or_default();
            let failure = step.expect.as_ref().is_some_and(|expect| expect.err.is_some());
            *if failure { failed } else { done } += 1;
            if let Action::Events(events) = &step.action {
                assert!(events.count > 0);
            }
        }
        for operation in ["create", "delete", "get", "list", "update", "compact", "watch"] {
            let (done, failed) = counts.get(operation).copied().unwrap_or_default();
            assert!(done > 10 && failed > 2, "{operation}: {done} done, {failed} failed");
        }
        for operation in ["count", "events", "leaseOf", "closed", "stop"] {
            assert!(counts.get(operation).is_some_and(|(done, _)| *done > 2), "{operation}: {counts:?}");
        }
    }
}
