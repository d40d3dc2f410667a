//! Scenarios that go another way: a write that the reference makes is refused, or one that it fails is made.

use anyhow::{Context, Result};
use serde_json::Value;

use super::{
    future_list::is_future,
    mapping::{Mapping, literal, revision_after},
};
use crate::{
    compare::compare,
    model::{Behaviour, Model},
    recording::{Action, Expectation, Scenario, Source, Step},
};

/// Replaces inputs and expectations from the first step on that comes out differently. Scenarios without such a step are
/// left alone.
pub(super) fn apply(scenario: &mut Scenario) {
    // Where the model cannot follow at all, nothing is known of another way, and what was recorded is what is expected.
    let Ok(ways) = walk(scenario) else { return };
    let Some(first) = ways.iter().position(|way| way.differs) else { return };
    for (step, way) in scenario.steps.iter_mut().zip(ways).skip(first) {
        *step = way.own;
    }
}

/// One step on both ways.
struct Way {
    own: Step,
    differs: bool,
}

fn walk(scenario: &Scenario) -> Result<Vec<Way>> {
    let mut reference = Model::new(scenario, Behaviour::Reference)?;
    let mut own = Model::new(scenario, Behaviour::Own)?;
    let (mut mapping, mut ways) = (Mapping::new(), Vec::new());
    for (number, recorded) in scenario.steps.iter().enumerate() {
        let (mut there, mut here) = (recorded.clone(), recorded.clone());
        reference.run(&mut there).with_context(|| format!("step {number}, as recorded"))?;
        mapping.inputs(&mut here);
        complete(&mut here, scenario, &own, &mapping)?;
        own.run(&mut here).with_context(|| format!("step {number}"))?;
        let differs = !equal(&there, &here) && !is_future(recorded);
        weaken(&mut here, &there, recorded);
        mapping.add(revision_after(recorded).unwrap_or_else(|| reference.head()), own.head());
        ways.push(Way { own: here, differs });
    }
    Ok(ways)
}

/// A reference to a step that gave the recorder an object and gives us none becomes that object.
fn complete(step: &mut Step, scenario: &Scenario, own: &Model, mapping: &Mapping) -> Result<()> {
    let arguments: Vec<&mut Value> = match &mut step.action {
        Action::Create(step) => vec![&mut step.obj],
        Action::Delete(step) => step.cached.iter_mut().collect(),
        Action::Update(step) => step.cached.iter_mut().chain(step.attempt.replace.iter_mut()).collect(),
        _ => Vec::new(),
    };
    for argument in arguments {
        if argument.get("fromStep").is_none() || own.results.object(argument).is_ok() {
            continue;
        }
        let from = argument["fromStep"].as_u64().and_then(|number| usize::try_from(number).ok());
        let from = from.and_then(|number| scenario.steps.get(number)).context("fromStep")?;
        let ok =
            from.expect.as_ref().and_then(|expect| expect.ok.as_ref()).context("fromStep of a failure")?;
        let object = match argument.get("item").and_then(Value::as_u64) {
            Some(item) => usize::try_from(item).ok().and_then(|item| ok["items"].get(item)).cloned(),
            None => ok.get("obj").cloned(),
        };
        *argument = literal(object.context("fromStep without an object")?, mapping);
    }
    Ok(())
}

/// Whether both ways come to the same, steps inside functions included.
fn equal(there: &Step, here: &Step) -> bool {
    there.expect == here.expect
        && there.action.nested().iter().zip(here.action.nested()).all(|(there, here)| equal(there, here))
}

/// Where the model as the reference does not come to what was recorded, what it says of us cannot be relied on either:
/// then only the revision is asserted. The test of the model makes sure that this is never the case with our recordings.
fn weaken(here: &mut Step, there: &Step, recorded: &Step) {
    if let (Some(own), false) = (&mut here.expect, follows(there, recorded)) {
        *own = Expectation { rev: own.rev.take(), source: Source::RevisionOnly, ..Expectation::default() };
    }
}

/// Whether the model as the reference comes to what was recorded.
fn follows(there: &Step, recorded: &Step) -> bool {
    let same = match (&recorded.expect, &there.expect) {
        (Some(recorded), Some(model)) => compare(recorded, model, false).is_empty(),
        (recorded, model) => recorded.is_none() && model.is_none(),
    };
    let nested = there.action.nested().iter().zip(recorded.action.nested());
    same && nested.into_iter().all(|(there, recorded)| follows(there, recorded))
}

/// Where the model as the reference does not come to what was recorded.
#[cfg(test)]
pub(super) fn astray(scenario: &Scenario) -> Vec<String> {
    let mut reference = match Model::new(scenario, Behaviour::Reference) {
        Ok(reference) => reference,
        Err(error) => return vec![format!("{error:#}")],
    };
    let mut astray = Vec::new();
    for (number, recorded) in scenario.steps.iter().enumerate() {
        let mut there = recorded.clone();
        if let Err(error) = reference.run(&mut there) {
            astray.push(format!("{} step {number}: {error:#}", scenario.name));
            return astray;
        }
        if !follows(&there, recorded) {
            let (recorded, model) =
                (recorded.expect.clone().unwrap_or_default(), there.expect.unwrap_or_default());
            for difference in compare(&recorded, &model, false) {
                astray.push(format!("{} step {number}: {difference}", scenario.name));
            }
        }
    }
    astray
}
