//! Revisions of a recording and what they are where kubestore went another way.

use serde_json::{Map, Value, json};

use crate::recording::{Action, PreconditionsArg, Step, Try, Validation};

/// How far both ways had come after each step.
#[derive(Debug)]
pub(super) struct Mapping {
    /// The recording's revision and ours.
    points: Vec<(i64, i64)>,
}

impl Mapping {
    pub(super) fn new() -> Self {
        Self { points: vec![(0, 0)] }
    }

    /// A step ended here.
    pub(super) fn add(&mut self, recorded: i64, own: i64) {
        self.points.push((recorded, own));
    }

    /// Our revision for one of the recording: that of the same write. A write that we refused has none; what stands for
    /// it is the state it was refused in. Above the head the distance to it is kept.
    pub(super) fn revision(&self, recorded: i64) -> i64 {
        let mut before = (0, 0);
        for point in &self.points {
            if point.0 >= recorded {
                return (point.1 - (point.0 - recorded)).clamp(before.1, point.1);
            }
            before = *point;
        }
        before.1 + (recorded - before.0)
    }

    fn text(&self, text: &mut String) {
        if let Some(recorded) = text.strip_prefix('+').and_then(|offset| offset.parse::<i64>().ok())
            && recorded > 0
        {
            *text = format!("+{}", self.revision(recorded));
        }
    }

    fn value(&self, value: &mut Value) {
        if let Value::String(text) = value {
            self.text(text);
        }
    }

    fn object(&self, object: &mut Value) {
        object.pointer_mut("/metadata/resourceVersion").into_iter().for_each(|version| self.value(version));
        if let Some(set) = object.get_mut("set").and_then(Value::as_object_mut)
            && set.keys().all(|pointer| pointer.starts_with('/'))
        {
            self.set(set);
        }
    }

    fn set(&self, set: &mut Map<String, Value>) {
        set.get_mut("/metadata/resourceVersion").into_iter().for_each(|version| self.value(version));
    }

    fn preconditions(&self, preconditions: Option<&mut PreconditionsArg>) {
        if let Some(version) = preconditions.and_then(|preconditions| preconditions.resource_version.as_mut())
        {
            self.text(version);
        }
    }

    fn attempt(&self, attempt: &mut Try) {
        attempt.replace.iter_mut().for_each(|object| self.object(object));
        self.set(&mut attempt.set);
        self.steps(&mut attempt.steps);
    }

    fn steps(&self, steps: &mut [Step]) {
        steps.iter_mut().for_each(|step| self.inputs(step));
    }

    /// Makes the revisions that a step is given ours.
    pub(super) fn inputs(&self, step: &mut Step) {
        match &mut step.action {
            Action::Create(step) => self.object(&mut step.obj),
            Action::Get(step) => self.text(&mut step.resource_version),
            Action::List(step) => {
                self.text(&mut step.resource_version);
                let token = step.continues.as_mut().and_then(|token| token.get_mut("rv"));
                token.into_iter().for_each(|revision| self.value(revision));
            }
            Action::Watch(step) => self.text(&mut step.resource_version),
            Action::Compact(step) => self.text(&mut step.revision),
            Action::Delete(step) => {
                step.cached.iter_mut().for_each(|object| self.object(object));
                self.preconditions(step.preconditions.as_mut());
                if let Some(Validation::Rules(rules)) = &mut step.validate {
                    self.steps(&mut rules.steps);
                }
            }
            Action::Update(step) => {
                step.cached.iter_mut().for_each(|object| self.object(object));
                self.preconditions(step.preconditions.as_mut());
                self.attempt(&mut step.attempt);
            }
            _ => {}
        }
    }
}

/// The revision after a step, as a number.
pub(super) fn revision_after(step: &Step) -> Option<i64> {
    step.expect.as_ref()?.rev.as_ref()?.strip_prefix('+')?.parse().ok()
}

/// An object of the recording as a literal with our revision, for a reference to a step that gives us none.
pub(super) fn literal(object: Value, mapping: &Mapping) -> Value {
    let mut object = object;
    mapping.object(&mut object);
    json!(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_writes_are_left_out_and_own_writes_come_after() {
        let mut mapping = Mapping::new();
        // Written by both; refused by us; written by us alone; two writes in one step; refused again.
        for (recorded, own) in [(1, 1), (2, 1), (2, 2), (4, 4), (5, 4)] {
            mapping.add(recorded, own);
        }
        let mapped: Vec<_> = (0..8).map(|recorded| mapping.revision(recorded)).collect();
        assert_eq!(mapped, [0, 1, 1, 3, 4, 4, 5, 6]);
    }

    #[test]
    fn all_inputs_of_a_step_are_mapped() {
        let mut mapping = Mapping::new();
        mapping.add(3, 1);
        let mut step: Step = serde_json::from_value(json!({
            "op": "update", "key": "/a", "preconditions": {"resourceVersion": "+3"},
            "cached": {"metadata": {"resourceVersion": "+4"}},
            "try": {"set": {"/metadata/resourceVersion": "+3"},
                    "steps": [{"op": "get", "key": "/a", "resourceVersion": "+5"}]},
        }))
        .unwrap();
        mapping.inputs(&mut step);
        let Action::Update(update) = &step.action else { panic!("an update") };
        assert_eq!(update.preconditions.as_ref().unwrap().resource_version.as_deref(), Some("+1"));
        assert_eq!(update.cached.as_ref().unwrap()["metadata"]["resourceVersion"], "+2");
        assert_eq!(update.attempt.set["/metadata/resourceVersion"], "+1");
        let Action::Get(get) = &update.attempt.steps[0].action else { panic!("a get") };
        assert_eq!(get.resource_version, "+3");
    }
}
