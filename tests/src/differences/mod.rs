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

use serde_json::{Value, json};

use crate::recording::{Scenario, Source, Step};

/// The scenario with the expectations that kubestore has to meet.
pub(crate) fn applied(scenario: &Scenario) -> Scenario {
    let mut scenario = scenario.clone();
    other_way::apply(&mut scenario);
    future_list::apply(&mut scenario.steps);
    scenario
}

/// Of how many steps only the revision is asserted.
pub(crate) fn revision_only(steps: &[Step]) -> usize {
    let here = |step: &Step| step.expect.as_ref().is_some_and(|expect| expect.source == Source::RevisionOnly);
    steps.iter().map(|step| usize::from(here(step)) + revision_only(step.action.nested())).sum()
}

/// What is expected of a write that is refused: a clear error, in whatever words.
pub(crate) fn refused() -> Value {
    json!({ "kind": REFUSED })
}

/// The kind of an error that stands for a refused object.
pub(crate) const REFUSED: &str = "Refused";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recording::{Expectation, committed};

    fn own(name: &str) -> Vec<Expectation> {
        let all = committed();
        let loaded = all.iter().find(|loaded| loaded.scenario.name == name).unwrap();
        let steps = applied(&loaded.scenario).steps;
        steps.into_iter().map(|step| step.expect.unwrap()).collect()
    }

    fn revisions(expectations: &[Expectation]) -> Vec<&str> {
        expectations.iter().map(|expectation| expectation.rev.as_deref().unwrap()).collect()
    }

    #[test]
    fn the_model_as_the_reference_comes_to_what_was_recorded() {
        for loaded in committed() {
            assert_eq!(other_way::astray(&loaded.scenario), Vec::<String>::new());
        }
    }

    #[test]
    fn every_step_of_every_recording_is_asserted() {
        for loaded in committed() {
            let scenario = applied(&loaded.scenario);
            assert_eq!(revision_only(&scenario.steps), 0, "{}", scenario.name);
        }
    }

    #[test]
    fn only_scenarios_that_refuse_an_object_or_lose_a_lease_go_another_way() {
        let mut others = Vec::new();
        for loaded in committed() {
            let mut scenario = loaded.scenario.clone();
            other_way::apply(&mut scenario);
            let same = scenario.steps.iter().zip(&loaded.scenario.steps).all(|(a, b)| a.expect == b.expect);
            if !same {
                others.push(scenario.name);
            }
        }
        assert_eq!(
            others,
            [
                "fuzz-1-0015",
                "fuzz-1-0027",
                "fuzz-1-0057",
                "y-watch-lease-multi",
                "create-without-kind",
                "lease-revoke",
                "update-cached-without-rv",
                "update-conflict",
                "update-drops-kind",
                "update-ignore-not-found",
                "update-noop-cached",
            ]
        );
    }

    #[test]
    fn nothing_is_written_of_objects_without_a_kind() {
        let own = own("create-without-kind");
        assert_eq!(revisions(&own), vec!["+0"; own.len()]);
        for refused_step in [0, 7, 11, 13, 14] {
            assert_eq!(own[refused_step].err, Some(refused()));
        }
        assert_eq!(own[1].ok, Some(json!({"found": false})));
        assert_eq!(own[2].err.as_ref().unwrap()["kind"], "KeyNotFound");
        assert_eq!(own[3].ok, Some(json!({"obj": null})));
        assert_eq!(own[4].ok.as_ref().unwrap()["items"], json!([]));
        assert_eq!(own[6].ok, Some(json!({"count": 0})));
        assert_eq!(own[10].err.as_ref().unwrap()["kind"], "KeyNotFound");
    }

    #[test]
    fn after_a_refused_update_the_key_holds_what_it_held() {
        let own = own("update-drops-kind");
        assert_eq!(revisions(&own), vec!["+1"; own.len()]);
        assert_eq!(own[1].err, Some(refused()));
        let text =
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"ns1\"}}\n";
        assert_eq!(own[2].ok.as_ref().unwrap()["text"], text);
        assert_eq!(own[2].ok.as_ref().unwrap()["version"], 1);
        let object = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "namespace": "ns1", "resourceVersion": "+1"}});
        assert_eq!(own[3].ok, Some(json!({ "obj": object })));
        // The function is called now, and changes nothing.
        assert_eq!(own[4].calls.as_ref().unwrap().len(), 1);
        assert_eq!(own[4].ok, Some(json!({ "obj": object })));
    }

    #[test]
    fn after_a_refused_null_document_the_revisions_are_lower() {
        let own = own("update-ignore-not-found");
        assert_eq!(own[5].err, Some(refused()));
        assert_eq!(own[5].calls, Some(vec![json!({"obj": null, "resourceVersion": "0", "ttl": 0})]));
        assert_eq!(own[7].err.as_ref().unwrap()["kind"], "KeyNotFound");
        // What could not be updated over the null document is created now.
        assert_eq!(own[8].ok.as_ref().unwrap()["obj"]["metadata"]["resourceVersion"], "+4");
        assert_eq!(own.last().unwrap().rev.as_deref(), Some("+5"));
    }

    #[test]
    fn a_create_after_its_lease_was_revoked_succeeds() {
        let own = own("lease-revoke");
        assert_eq!(own[17].ok.as_ref().unwrap()["obj"]["metadata"]["resourceVersion"], "+7");
        assert_eq!(own[18].ok.as_ref().unwrap()["obj"]["metadata"]["name"], "e");
        assert_eq!(own[20].ok.as_ref().unwrap()["obj"]["metadata"]["resourceVersion"], "+8");
        assert_eq!(own[21].ok, Some(json!({"found": true, "lease": "L2", "grantedTTL": 2060})));
    }
}
