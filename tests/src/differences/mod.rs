//! Where kubestore is meant to differ from the recordings.
//!
//! 1. A list at a revision above the head is refused as one that has not happened yet.
//! 5. An object without `kind` or `apiVersion`, or no document at all, is refused before it is written.
//! 6. A lease that etcd no longer knows is granted anew.
//! 7. Where the reference panics, any error will do; that is left to the comparison.
//!
//! After 5 and 6 a scenario goes another way: the revisions are others and keys hold something else. What to expect of the
//! later steps is then taken from a [model](crate::model).

mod future_list;
mod mapping;
mod other_way;

use anyhow::Result;
use serde_json::{Value, json};

use crate::recording::Scenario;

/// The scenario with the expectations that kubestore has to meet.
pub(crate) fn applied(scenario: &Scenario) -> Result<Scenario> {
    let mut scenario = scenario.clone();
    other_way::apply(&mut scenario)?;
    future_list::apply(&mut scenario.steps);
    Ok(scenario)
}

/// What is expected of a write that is refused: a clear error, in whatever words.
pub(crate) fn refused() -> Value {
    json!({ "kind": REFUSED })
}

/// The kind of an error that stands for a refused object.
pub(crate) const REFUSED: &str = "Refused";

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::recording::load;

    #[test]
    fn tmp_model() {
        let paths: Vec<PathBuf> = std::env::var("RECORDINGS").unwrap().split(':').map(Into::into).collect();
        for loaded in load(&paths).unwrap() {
            for line in other_way::astray(&loaded.scenario) {
                println!("{}", line.chars().take(300).collect::<String>());
            }
        }
    }
}
