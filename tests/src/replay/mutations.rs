//! A replay that cannot fail is worth nothing: whatever is changed in an expectation must be noticed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    backend::{BackendKind, Backends},
    report::StepFailure,
    run::{Options, expect},
};
use crate::{
    differences,
    recording::{Action, Expectation, Scenario, Step, committed, pointer_get},
};

async fn run(scenario: Scenario) -> Vec<StepFailure> {
    let mut seat = Backends::new(BackendKind::Memory).seat();
    expect(&mut seat, scenario, Options::default()).await.unwrap()
}

fn scenario(value: Value) -> Scenario {
    serde_json::from_value(value).unwrap()
}

/// One value of an expectation, where it is, and the shape of that place.
struct Place {
    scenario: usize,
    step: usize,
    pointer: String,
}

/// The scenarios with kubestore's expectations. Those that wait are left out: they would take minutes here.
fn scenarios() -> Vec<Scenario> {
    let waits = |step: &Step| match &step.action {
        Action::Sleep(_) => true,
        Action::Quiet(quiet) => quiet.ms > 100,
        _ => false,
    };
    let all = committed().into_iter().map(|loaded| differences::applied(&loaded.scenario));
    all.filter(|scenario| !scenario.steps.iter().any(waits)).collect()
}

/// One place of each shape: an operation and a path without positions, such as `list ok/items/*/kind`.
fn places(scenarios: &[Scenario]) -> BTreeMap<String, Place> {
    let mut places = BTreeMap::new();
    for (number, scenario) in scenarios.iter().enumerate() {
        for (position, step) in scenario.steps.iter().enumerate() {
            let expectation = as_value(step.expect.as_ref().unwrap());
            let operation = step.action.title();
            let operation = operation.split(' ').next().unwrap_or_default().to_owned();
            walk(&expectation, "", &mut |pointer| {
                let shape =
                    pointer.split('/').map(|part| if part.parse::<u32>().is_ok() { "*" } else { part });
                let shape = format!("{operation} {}", shape.collect::<Vec<_>>().join("/"));
                let place = Place { scenario: number, step: position, pointer: pointer.to_owned() };
                places.entry(shape).or_insert(place);
            });
        }
    }
    places
}

fn as_value(expectation: &Expectation) -> Value {
    let mut value = json!({});
    for (name, part) in [("ok", &expectation.ok), ("err", &expectation.err)] {
        if let Some(part) = part {
            value[name] = part.clone();
        }
    }
    for (name, calls) in [("calls", &expectation.calls), ("validateCalls", &expectation.validate_calls)] {
        if let Some(calls) = calls {
            value[name] = json!(calls);
        }
    }
    if let Some(rev) = &expectation.rev {
        value["rev"] = json!(rev);
    }
    value
}

fn walk(value: &Value, pointer: &str, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(value, &format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                walk(item, &format!("{pointer}/{position}"), found);
            }
        }
        _ => {}
    }
    if !pointer.is_empty() {
        found(pointer);
    }
}

/// Another value of the same type, or an addition to it.
fn changed(value: &Value) -> Value {
    match value {
        Value::Null => json!("something"),
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => json!(integer ^ 1),
            None => json!(number.as_f64().unwrap_or_default() * 2.0),
        },
        Value::String(text) => json!(format!("x{text}")),
        Value::Array(items) => json!([items.as_slice(), &[json!("one more")]].concat()),
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.insert("more".to_owned(), json!(1));
            Value::Object(fields)
        }
    }
}

/// What the recordings tell a replayer not to compare: the reference's panics, and the words of Go's own packages. What a
/// refusal says is not recorded.
fn is_left_alone(expectation: &Value, pointer: &str) -> bool {
    let error =
        pointer.split_inclusive("/err").next().filter(|error| error.ends_with("/err")).unwrap_or_default();
    let Some(inside) = pointer.strip_prefix(error).filter(|_| !error.is_empty()) else { return false };
    let error = &expectation.pointer(error).unwrap();
    let kind = error["kind"].as_str().unwrap();
    let words = inside == "/message" || inside.starts_with("/causes");
    kind == "Panic"
        || kind == differences::REFUSED
        || inside == "/goText"
        || (words && error["goText"] == true)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_changed_in_an_expectation_is_noticed() {
    let scenarios = scenarios();
    let places = places(&scenarios);
    assert!(places.len() > 200, "{} shapes are too few to be all there are", places.len());
    let (mut unnoticed, mut left_alone) = (Vec::new(), BTreeSet::new());
    for (shape, place) in &places {
        let mut scenario = scenarios[place.scenario].clone();
        scenario.steps.truncate(place.step + 1);
        let expectation = scenario.steps[place.step].expect.clone().unwrap();
        let mut value = as_value(&expectation);
        if is_left_alone(&value, &place.pointer) {
            left_alone.insert(shape.as_str());
            continue;
        }
        let old = pointer_get(&value, &place.pointer).unwrap();
        *value.pointer_mut(&place.pointer).unwrap() = changed(old);
        scenario.steps[place.step].expect = Some(serde_json::from_value(value).unwrap());
        let failures = run(scenario).await;
        let number = place.step.to_string();
        if failures.len() != 1 || failures[0].number != number || failures[0].differences.is_empty() {
            unnoticed.push(format!("{shape}: {failures:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "{}", unnoticed.join("\n"));
    assert!(left_alone.len() < 12, "{left_alone:?}");
}

#[tokio::test]
async fn a_step_inside_a_function_runs_if_and_only_if_it_did() {
    let create = json!({"op": "create", "key": "/pods/a", "out": false,
        "obj": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}, "expect": {"ok": {}, "rev": "+1"}});
    let update = |error: Value, expect: Value, nested: Value| {
        let mut update = json!({"op": "update", "key": "/pods/a", "expect": expect,
            "try": {"steps": [nested]}, "preconditions": {}});
        if !error.is_null() {
            update["preconditions"] = error;
        }
        scenario(json!({"name": "nested", "steps": [create, update]}))
    };
    let object =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "resourceVersion": "+1"}});
    let called = json!({"ok": {"obj": object}, "rev": "+1",
        "calls": [{"resourceVersion": "+1", "ttl": 0, "obj": object}]});
    let count = |expect: Option<Value>| {
        let mut step = json!({"op": "count", "key": "/pods"});
        if let Some(expect) = expect {
            step["expect"] = expect;
        }
        step
    };
    let counted = json!({"ok": {"count": 1}, "rev": "+1"});
    assert_eq!(run(update(Value::Null, called.clone(), count(Some(counted.clone())))).await.len(), 0);

    let failures = run(update(Value::Null, called, count(None))).await;
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].number, "1.0");

    let key = "<prefix>/pods/a";
    let text = "Precondition failed: UID in precondition: u, UID in object meta: ";
    let message = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {text}"
    );
    let refused = json!({"rev": "+1", "calls": [], "err": {"kind": "InvalidObj", "key": key,
        "additional": text, "resourceVersion": 0, "message": message}});
    let precondition = json!({"uid": "u"});
    assert_eq!(run(update(precondition.clone(), refused.clone(), count(None))).await.len(), 0);
    let failures = run(update(precondition, refused, count(Some(counted)))).await;
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].number, "1.0");
}

#[tokio::test]
async fn events_that_do_not_come_are_a_failure() {
    let watch = json!({"op": "watch", "id": "w", "key": "/pods", "recursive": true, "resourceVersion": "+0",
        "expect": {"ok": {}, "rev": "+0"}});
    let quiet = json!({"op": "quiet", "id": "w", "ms": 10, "expect": {"ok": {"events": [{"type": "ADDED"}]}, "rev": "+0"}});
    let closed = json!({"op": "stop", "id": "w", "expect": {"ok": {"closed": false}, "rev": "+0"}});
    let failures = run(scenario(json!({"name": "silent", "steps": [watch, quiet, closed]}))).await;
    let numbers: Vec<_> = failures.iter().map(|failure| failure.number.as_str()).collect();
    assert_eq!(numbers, ["1", "2"]);
}

#[tokio::test]
async fn a_step_that_makes_no_sense_is_a_failure() {
    let step = json!({"op": "get", "key": "/pods/a", "ignoreNotFound": true, "expect": {"ok": {"obj": null}, "rev": "+0"}});
    let create =
        json!({"op": "create", "key": "/pods/b", "obj": {"fromStep": 0}, "expect": {"ok": {}, "rev": "+1"}});
    let failures = run(scenario(json!({"name": "odd", "steps": [step, create]}))).await;
    assert_eq!(failures.len(), 1);
    assert!(failures[0].problem.as_deref().unwrap().contains("step 0 gave no object"));
}
