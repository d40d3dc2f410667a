//! `ci`: everything that a change must pass, in order, up to the first failure; at the end the time of each step.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{bench, deny, docs, features, fmt, lines, lint, test, tidy};

/// What a step came to.
enum Outcome {
    Passed,
    Skipped(&'static str),
    Failed,
}

type Step = fn() -> Result<Outcome>;

/// Quick ones first, then those that share what they build with the one before.
const STEPS: [(&str, Step); 8] = [
    ("fmt", || passed(fmt::run_task(true))),
    ("tidy", || passed(tidy::run_task())),
    ("lint", || passed(lint::run_task())),
    ("docs", || passed(docs::build())),
    ("test", || passed(test::run_task())),
    ("bench --smoke", || passed(bench::run_task(&["--smoke"]))),
    ("features", || passed(features::run_task())),
    ("deny", || {
        Ok(if deny::run_task()? { Outcome::Passed } else { Outcome::Skipped("cargo-deny is not installed") })
    }),
];

/// Runs the task.
pub(crate) fn run_task() -> Result<()> {
    let mut table = Vec::new();
    let result = STEPS.into_iter().try_for_each(|(name, step)| {
        eprintln!("\n=== {name}");
        let start = Instant::now();
        let result = step();
        let time = start.elapsed();
        let (outcome, result) = match result {
            Ok(outcome) => (outcome, Ok(())),
            Err(error) => (Outcome::Failed, Err(error).with_context(|| format!("step {name}"))),
        };
        table.push((name, outcome, time));
        result
    });
    println!();
    lines::run_task()?;
    println!();
    for (name, outcome, time) in &table {
        let outcome = match outcome {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Skipped(reason) => format!("skipped: {reason}"),
            Outcome::Failed => "FAILED".to_owned(),
        };
        println!("{name:<16}{:>8}  {outcome}", minutes(*time));
    }
    println!("{:<16}{:>8}", "all", minutes(table.iter().map(|(_, _, time)| *time).sum()));
    result
}

fn passed(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Passed)
}

fn minutes(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_minutes_and_seconds() {
        assert_eq!(minutes(Duration::from_millis(65_900)), "1:05");
        assert_eq!(minutes(Duration::from_secs(3_600)), "60:00");
    }
}
