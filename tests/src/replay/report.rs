//! What a replay found.

use std::fmt;

use crate::{compare::Difference, recording::Action};

/// One step that did not come out as recorded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StepFailure {
    /// Its number, from 0; steps inside functions have the number of their step before a point.
    pub number: String,
    /// What it does.
    pub title: String,
    /// Where what came is not what was expected.
    pub differences: Vec<Difference>,
    /// Why there is nothing to compare.
    pub problem: Option<String>,
}

impl StepFailure {
    pub(super) fn problem(number: String, action: &Action, problem: String) -> Self {
        Self { number, title: action.title(), differences: Vec::new(), problem: Some(problem) }
    }
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  step {}: {}", self.number, self.title)?;
        if let Some(problem) = &self.problem {
            write!(f, "\n    {problem}")?;
        }
        for difference in &self.differences {
            write!(f, "\n    {difference}")?;
        }
        Ok(())
    }
}

/// What came of one scenario.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ScenarioReport {
    /// Where it came from.
    pub source: String,
    /// Its name.
    pub name: String,
    /// How many steps it has.
    pub steps: usize,
    /// Of how many steps only the revision could be asserted, because the scenario went another way than when it was
    /// recorded and what they should come to could not be derived.
    pub revision_only: usize,
    /// Why it could not be run at all, or not to its end.
    pub problem: Option<String>,
    /// The steps that failed.
    pub failures: Vec<StepFailure>,
}

impl ScenarioReport {
    /// Whether everything came out as expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && self.problem.is_none()
    }
}

impl fmt::Display for ScenarioReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.passed() {
            write!(f, "pass {} ({} steps", self.name, self.steps)?;
            if self.revision_only > 0 {
                write!(f, ", {} of them by revision only", self.revision_only)?;
            }
            return f.write_str(")");
        }
        write!(f, "FAIL {} ({})", self.name, self.source)?;
        if let Some(problem) = &self.problem {
            write!(f, "\n  {problem}")?;
        }
        for failure in &self.failures {
            write!(f, "\n{failure}")?;
        }
        Ok(())
    }
}

/// What came of all scenarios, in the order in which they were given.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// One for each scenario.
    pub scenarios: Vec<ScenarioReport>,
}

impl Report {
    /// How many scenarios failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.scenarios.iter().filter(|scenario| !scenario.passed()).count()
    }
}

/// The last line: `N passed, N failed`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.failed();
        write!(f, "{} passed, {failed} failed", self.scenarios.len() - failed)
    }
}
