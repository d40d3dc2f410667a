//! The same random steps on several backends, and what comes of each compared at once.
//!
//! Revisions are compared as offsets from where the run began, leases by the order of their grants, errors by their kind, and
//! what watches were told whenever all of them are in step. Time does not pass: leases end by being revoked only.

mod maker;
mod seen;
mod side;
mod step;

use std::{fmt, sync::Arc};

use anyhow::{Context as _, Result, bail};
use kubestore_kv::Kv;

use self::{maker::Maker, side::Side};

/// A run of random steps.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Differential {
    seed: u64,
    steps: usize,
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    /// Steps that were done on each side.
    pub steps: usize,
    /// Those that failed, alike.
    pub errors: usize,
    /// Events that watches were told, on each side.
    pub events: usize,
}

impl Compared {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            errors: self.errors + other.errors,
            events: self.events + other.events,
        }
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} steps, {} of which failed, and {} events", self.steps, self.errors, self.events)
    }
}

/// So many steps are shown before the one that differs.
const SHOWN: usize = 12;

impl Differential {
    /// So many steps, chosen by this seed.
    pub fn seeded(seed: u64, steps: usize) -> Self {
        Self { seed, steps }
    }

    /// Does the steps on all `backends`, which nobody else uses meanwhile.
    ///
    /// # Errors
    /// They differ: the seed, the step, what came of it on each, and the steps before it.
    pub async fn run(self, backends: &[(&str, Arc<dyn Kv>)]) -> Result<Compared> {
        let prefix = format!("/differential/{:x}/", self.seed);
        let mut sides = Vec::new();
        for (name, kv) in backends {
            sides.push(Side::new(name, Arc::clone(kv), &prefix).await?);
        }
        let mut maker = Maker::new(self.seed);
        let mut compared = Compared::default();
        let mut done: Vec<String> = Vec::new();
        for number in 0..self.steps {
            let step = maker.next_step();
            let mut seen = Vec::new();
            let before = || done[done.len().saturating_sub(SHOWN)..].join("\n");
            for side in &mut sides {
                let answer = side.run(&step).await;
                let context = || format!("seed {}, step {number}: {step:?}\nafter\n{}", self.seed, before());
                seen.push(answer.with_context(context)?);
            }
            if let Some(other) = seen.iter().position(|other| *other != seen[0]) {
                let before = before();
                let (one, two) = (sides[0].name(), sides[other].name());
                bail!(
                    "seed {}, step {number}: {step:?}\n{one}: {:#?}\n{two}: {:#?}\nafter\n{before}",
                    self.seed,
                    seen[0],
                    seen[other]
                );
            }
            let seen = seen.swap_remove(0);
            compared.steps += 1;
            compared.errors += usize::from(seen.is_error());
            compared.events += seen.events();
            done.push(format!("{number}: {step:?}: {seen:?}"));
            maker.learn(&step, &seen);
        }
        for side in sides {
            side.finish().await?;
        }
        Ok(compared)
    }
}
