//! A list at a revision above the head is refused as one that has not happened yet, with both revisions; the reference
//! passes on etcd's raw text. Nothing is written, so this is a rule for any scenario.

use serde_json::{Value, json};

use crate::recording::{Action, ListStep, Step};

const FUTURE: &str = "required revision is a future revision";

/// Rewrites the expectations of such lists.
pub(super) fn apply(steps: &mut [Step]) {
    for number in 0..steps.len() {
        if let Some(expected) = rewritten(steps, number)
            && let Some(expect) = &mut steps[number].expect
        {
            expect.err = Some(expected);
        }
    }
}

/// Whether a recorded error is the one that is treated apart.
pub(super) fn is_future(step: &Step) -> bool {
    let error = step.expect.as_ref().and_then(|expect| expect.err.as_ref());
    let Some(error) = error.filter(|_| matches!(step.action, Action::List(_))) else { return false };
    error["kind"] == "Other" && error["message"].as_str().is_some_and(|message| message.ends_with(FUTURE))
}

fn rewritten(steps: &[Step], number: usize) -> Option<Value> {
    let step = &steps[number];
    let Action::List(list) = &step.action else { return None };
    if !is_future(step) {
        return None;
    }
    let requested = requested(list, steps)?;
    let current = step.expect.as_ref()?.rev.as_ref()?;
    Some(json!({
        "kind": "TooLargeResourceVersion",
        "message": format!("Timeout: Too large resource version: {requested}, current: {current}"),
        "reason": "Timeout",
        "code": 504,
        "causes": [{"type": "ResourceVersionTooLarge", "message": "Too large resource version"}],
    }))
}

/// The revision that the list asked for: the one in its token, else its resource version.
fn requested(list: &ListStep, steps: &[Step]) -> Option<String> {
    let token = match &list.continues {
        Some(Value::Object(token)) if list.recursive => token,
        _ => return Some(list.resource_version.clone()),
    };
    let Some(from) = token.get("fromStep") else {
        return token.get("rv")?.as_str().map(str::to_owned);
    };
    let from = steps.get(usize::try_from(from.as_u64()?).ok()?)?.expect.as_ref()?;
    let token = from.ok.as_ref().or(from.err.as_ref())?.get("continue")?;
    match token.get("rv").and_then(Value::as_str) {
        Some(revision) => Some(revision.to_owned()),
        None => Some(list.resource_version.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(value: Value) -> Vec<Step> {
        serde_json::from_value(value).unwrap()
    }

    fn future() -> Value {
        json!({"err": {"kind": "Other", "message": format!("etcdserver: mvcc: {FUTURE}")}, "rev": "+3"})
    }

    fn message(step: &Step) -> &str {
        step.expect.as_ref().unwrap().err.as_ref().unwrap()["message"].as_str().unwrap()
    }

    #[test]
    fn the_requested_revision_is_the_list_s_or_its_token_s() {
        let token = json!({"ok": {"continue": {"rv": "+8", "start": "a"}}, "rev": "+3"});
        let mut steps = steps(json!([
            {"op": "list", "key": "/pods", "recursive": true, "limit": 1, "expect": token},
            {"op": "list", "key": "/pods", "recursive": true, "resourceVersion": "+9", "expect": future()},
            {"op": "list", "key": "/pods", "recursive": true, "continue": {"fromStep": 0}, "expect": future()},
            {"op": "list", "key": "/pods", "recursive": true, "continue": {"rv": "+7", "start": "a"}, "expect": future()},
        ]));
        apply(&mut steps);
        for (step, requested) in steps[1..].iter().zip(["+9", "+8", "+7"]) {
            assert_eq!(
                message(step),
                format!("Timeout: Too large resource version: {requested}, current: +3")
            );
            assert_eq!(step.expect.as_ref().unwrap().err.as_ref().unwrap()["code"], 504);
        }
    }

    #[test]
    fn other_errors_and_other_steps_stay() {
        let other = json!({"err": {"kind": "Other", "message": "else"}, "rev": "+3"});
        let mut steps = steps(json!([
            {"op": "list", "key": "/pods", "expect": other},
            {"op": "compact", "revision": "+9", "expect": future()},
        ]));
        apply(&mut steps);
        assert_eq!(message(&steps[0]), "else");
        assert!(message(&steps[1]).ends_with(FUTURE));
    }
}
