//! Where kubestore is meant to differ from the recordings.

mod future_list;

use anyhow::Result;

use crate::recording::Scenario;

/// The scenario with the expectations that kubestore has to meet.
pub(crate) fn applied(scenario: &Scenario) -> Result<Scenario> {
    let mut scenario = scenario.clone();
    future_list::apply(&mut scenario.steps);
    Ok(scenario)
}
