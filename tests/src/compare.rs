//! What was recorded against what came.

use std::fmt;

use serde_json::Value;

use crate::{
    differences::REFUSED,
    recording::{Expectation, Source, same},
};

/// One place where what came is not what was expected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// Where in the expectation, as in `ok.obj.metadata.labels.app`.
    pub path: String,
    /// What was expected; `None` for nothing at all.
    pub expected: Option<String>,
    /// What came; `None` for nothing at all.
    pub got: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nothing = "nothing";
        let (expected, got) = (self.expected.as_deref(), self.got.as_deref());
        write!(f, "{}: expected {}, got {}", self.path, expected.unwrap_or(nothing), got.unwrap_or(nothing))
    }
}

/// All places where `got` is not what `expected` says. The requests to etcd are compared if `trace` says so.
#[must_use]
pub fn compare(expected: &Expectation, got: &Expectation, trace: bool) -> Vec<Difference> {
    let mut found = Found::default();
    if expected.rev != got.rev {
        found.add("rev", expected.rev.clone(), got.rev.clone());
    }
    if expected.source == Source::RevisionOnly {
        return found.0;
    }
    found.optional("ok", expected.ok.as_ref(), got.ok.as_ref());
    match (&expected.err, &got.err) {
        (Some(expected), Some(got)) => found.error("err", expected, got),
        (expected, got) => found.optional("err", expected.as_ref(), got.as_ref()),
    }
    found.calls("calls", expected.calls.as_deref(), got.calls.as_deref());
    found.calls("validateCalls", expected.validate_calls.as_deref(), got.validate_calls.as_deref());
    if trace && expected.source == Source::Recording {
        found.requests(expected.etcd.as_deref(), got.etcd.as_deref());
    }
    found.0
}

#[derive(Default)]
struct Found(Vec<Difference>);

impl Found {
    fn add(&mut self, path: &str, expected: Option<String>, got: Option<String>) {
        self.0.push(Difference { path: path.to_owned(), expected, got });
    }

    /// The reference may give a limit with the read of a single key, and a negative revision for the newest; neither
    /// means anything, and neither can be given here.
    fn requests(&mut self, expected: Option<&[String]>, got: Option<&[String]>) {
        let line = |requests: Option<&[String]>| {
            let meant = |request: &str, word: &str| {
                !(word.starts_with("rev=-") || word.starts_with("limit=") && request.starts_with("get"))
            };
            let plain = |request: &String| {
                request.split(' ').filter(|word| meant(request, word)).collect::<Vec<_>>().join(" ")
            };
            requests.map(|requests| requests.iter().map(plain).collect::<Vec<_>>().join("; "))
        };
        let (expected, got) = (line(expected), line(got));
        if expected != got {
            self.add("etcd", expected, got);
        }
    }

    fn optional(&mut self, path: &str, expected: Option<&Value>, got: Option<&Value>) {
        match (expected, got) {
            (Some(expected), Some(got)) => self.value(path, expected, got),
            (None, None) => {}
            (expected, got) => self.add(path, expected.map(shown), got.map(shown)),
        }
    }

    fn value(&mut self, path: &str, expected: &Value, got: &Value) {
        match (expected, got) {
            (Value::Object(expected), Value::Object(got)) => {
                for (name, value) in expected {
                    self.member(&format!("{path}.{name}"), name, Some(value), got.get(name));
                }
                for (name, value) in got.iter().filter(|(name, _)| !expected.contains_key(*name)) {
                    self.member(&format!("{path}.{name}"), name, None, Some(value));
                }
            }
            (Value::Array(expected), Value::Array(got)) => {
                if expected.len() != got.len() {
                    self.add(
                        path,
                        Some(format!("{} of them", expected.len())),
                        Some(format!("{} of them", got.len())),
                    );
                }
                for number in 0..expected.len().max(got.len()) {
                    self.optional(&format!("{path}[{number}]"), expected.get(number), got.get(number));
                }
            }
            _ if same(expected, got) => {}
            _ => self.add(path, Some(shown(expected)), Some(shown(got))),
        }
    }

    /// Events of watches have errors inside the result.
    fn member(&mut self, path: &str, name: &str, expected: Option<&Value>, got: Option<&Value>) {
        let event = name == "err" && (path.starts_with("ok.events[") || path.starts_with("ok.pending["));
        match (expected, got) {
            (Some(expected), Some(got)) if event => self.error(path, expected, got),
            _ => self.optional(path, expected, got),
        }
    }

    fn error(&mut self, path: &str, expected: &Value, got: &Value) {
        if expected["kind"] == "Panic" {
            return;
        }
        if expected["kind"] == REFUSED {
            return self.refusal(path, got);
        }
        let (Value::Object(expected), Value::Object(got)) = (expected, got) else {
            return self.value(path, expected, got);
        };
        let (mut wanted, mut came) = (expected.clone(), got.clone());
        // Part of the message is in the words of Go's own packages: only what comes before it counts.
        if wanted.remove("goText").is_some_and(|flag| flag == Value::Bool(true)) {
            let prefix = wanted.remove("messagePrefix");
            for fields in [&mut wanted, &mut came] {
                fields.remove("message");
                fields.remove("causes");
            }
            let prefix = prefix.as_ref().and_then(Value::as_str).unwrap_or_default();
            let message = got.get("message").and_then(Value::as_str).unwrap_or_default();
            if !message.starts_with(prefix) {
                let expected = format!("something that starts with {}", Value::from(prefix));
                self.add(&format!("{path}.message"), Some(expected), Some(Value::from(message).to_string()));
            }
        }
        self.value(path, &Value::Object(wanted), &Value::Object(came));
    }

    /// A refused object: the error is a plain one and says what is missing.
    fn refusal(&mut self, path: &str, got: &Value) {
        let message = got["message"].as_str().unwrap_or_default().to_lowercase();
        let clear = message.contains("kind") || message.contains("apiversion");
        if got["kind"] != "Other" || !clear {
            let expected = "a refusal that names kind or apiVersion".to_owned();
            self.add(path, Some(expected), Some(shown(got)));
        }
    }

    /// Calls that were not recorded are those of a step in which the reference panicked before it called anything.
    fn calls(&mut self, path: &str, expected: Option<&[Value]>, got: Option<&[Value]>) {
        let (expected, got) = (expected.unwrap_or_default(), got.unwrap_or_default());
        self.value(path, &Value::from(expected), &Value::from(got));
    }
}

/// Long values are cut in a report.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 400;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((position, _)) => format!("{}… ({} bytes)", &text[..position], text.len()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn expectation(value: Value) -> Expectation {
        serde_json::from_value(value).unwrap()
    }

    fn paths(expected: Value, got: Value) -> Vec<String> {
        let differences = compare(&expectation(expected), &expectation(got), false);
        differences.into_iter().map(|difference| difference.path).collect()
    }

    const NONE: [&str; 0] = [];

    #[test]
    fn equal_expectations_have_no_difference() {
        let value = json!({"ok": {"obj": {"a": [1, {"b": null}]}}, "rev": "+3", "calls": [{"ttl": 0}]});
        assert_eq!(paths(value.clone(), value), NONE);
        assert_eq!(paths(json!({"ok": {"n": 1.0}}), json!({"ok": {"n": 1}})), NONE);
    }

    #[test]
    fn every_difference_is_named_by_its_place() {
        let expected = json!({"ok": {"obj": {"a": 1, "b": [1, 2], "c": "x"}}, "rev": "+3"});
        let got = json!({"ok": {"obj": {"a": 2, "b": [1], "d": null}}, "rev": "+4"});
        assert_eq!(
            paths(expected, got),
            ["rev", "ok.obj.a", "ok.obj.b", "ok.obj.b[1]", "ok.obj.c", "ok.obj.d"]
        );
    }

    #[test]
    fn success_and_failure_are_different() {
        let expected = json!({"ok": {}, "rev": "+1"});
        let got = json!({"err": {"kind": "Other", "message": "x"}, "rev": "+1"});
        assert_eq!(paths(expected.clone(), got.clone()), ["ok", "err"]);
        assert_eq!(paths(got, expected), ["ok", "err"]);
    }

    #[test]
    fn number_order_and_contents_of_calls_count() {
        let calls = |list: Value| json!({"ok": {}, "calls": list, "validateCalls": []});
        assert_eq!(paths(calls(json!([1, 2])), calls(json!([2, 1]))), ["calls[0]", "calls[1]"]);
        assert_eq!(paths(calls(json!([1])), calls(json!([]))), ["calls", "calls[0]"]);
        assert_eq!(
            paths(json!({"ok": {}}), json!({"ok": {}, "validateCalls": [1]})),
            ["validateCalls", "validateCalls[0]"]
        );
    }

    #[test]
    fn words_of_go_are_compared_by_their_beginning() {
        let expected = json!({"err": {"kind": "BadRequest", "reason": "BadRequest", "code": 400, "goText": true,
            "message": "bad token: invalid character", "messagePrefix": "bad token: ", "causes": [1]}});
        let got = |kind: &str, message: &str| json!({"err": {"kind": kind, "reason": "BadRequest", "code": 400, "message": message}});
        assert_eq!(paths(expected.clone(), got("BadRequest", "bad token: expected value")), NONE);
        assert_eq!(paths(expected.clone(), got("BadRequest", "bad")), ["err.message"]);
        assert_eq!(paths(expected, got("Other", "bad token: x")), ["err.kind"]);
    }

    #[test]
    fn other_messages_are_compared_whole() {
        let error = |message: &str| json!({"err": {"kind": "Other", "message": message}});
        assert_eq!(paths(error("abc"), error("abcd")), ["err.message"]);
        let event = |message: &str| json!({"ok": {"events": [error(message)]}});
        assert_eq!(paths(event("abc"), event("abd")), ["ok.events[0].err.message"]);
    }

    #[test]
    fn where_the_reference_panicked_any_error_will_do_but_no_success() {
        let expected = json!({"err": {"kind": "Panic", "message": "x"}, "rev": "+1"});
        let error = json!({"err": {"kind": "Internal", "message": "y"}, "rev": "+1", "calls": []});
        assert_eq!(paths(expected.clone(), error), NONE);
        assert_eq!(paths(expected, json!({"ok": {}, "rev": "+1"})), ["ok", "err"]);
    }

    #[test]
    fn a_refusal_must_say_what_is_missing() {
        let expected = json!({"err": crate::differences::refused(), "rev": "+1"});
        let error =
            |kind: &str, message: &str| json!({"err": {"kind": kind, "message": message}, "rev": "+1"});
        assert_eq!(paths(expected.clone(), error("Other", "Object 'Kind' is missing in 'null'")), NONE);
        assert_eq!(paths(expected.clone(), error("Other", "no")), ["err"]);
        assert_eq!(paths(expected.clone(), error("KeyExists", "kind")), ["err"]);
        assert_eq!(paths(expected, json!({"ok": {}, "rev": "+1"})), ["ok", "err"]);
    }

    #[test]
    fn of_a_partial_expectation_only_the_revision_counts() {
        let mut expected = expectation(json!({"ok": {"a": 1}, "rev": "+1"}));
        expected.source = Source::RevisionOnly;
        assert_eq!(compare(&expected, &expectation(json!({"err": {}, "rev": "+1"})), true), []);
        assert_eq!(compare(&expected, &expectation(json!({"ok": {"a": 1}, "rev": "+2"})), false).len(), 1);
    }

    #[test]
    fn requests_count_only_when_asked_for() {
        let mut expected = expectation(json!({"ok": {}, "etcd": ["get limit=5 -> kvs=1"]}));
        assert_eq!(compare(&expected, &expectation(json!({"ok": {}, "etcd": ["get -> kvs=1"]})), true), []);
        let got = expectation(json!({"ok": {}, "etcd": ["get -> kvs=1", "get -> kvs=1"]}));
        assert_eq!(compare(&expected, &got, false), []);
        let differences = compare(&expected, &got, true);
        assert_eq!(differences.len(), 1);
        assert_eq!(differences[0].to_string(), "etcd: expected get -> kvs=1, got get -> kvs=1; get -> kvs=1");
        expected.source = Source::Model;
        assert_eq!(compare(&expected, &got, true), []);
    }
}
