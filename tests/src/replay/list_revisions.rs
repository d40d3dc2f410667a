//! Which revision a list reads and what comes of it: every combination of resource version, match, continue token, limit
//! and scope, as recorded.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    backend::{BackendKind, Backends},
    session::Session,
};
use crate::{
    compare::compare,
    recording::{Action, Base, Scenario, Step},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vectors {
    setup: Vec<Step>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    #[serde(rename = "continue")]
    continues: Option<Value>,
    resource_version: String,
    resource_version_match: String,
    recursive: bool,
    limit: i64,
    /// The revision asked of the backend, "0" for the newest, none if it was not asked. Negative ones are the newest too.
    reads_revision: Option<String>,
    ok: Option<Value>,
    err: Option<Value>,
}

impl Case {
    fn step(&self) -> Step {
        let mut step = json!({
            "op": "list",
            "key": if self.recursive { "/pods" } else { "/pods/ns1/a" },
            "recursive": self.recursive,
            "resourceVersion": self.resource_version,
            "resourceVersionMatch": self.resource_version_match,
            "limit": self.limit,
            "expect": {"rev": "+5"},
        });
        if let Some(token) = &self.continues {
            step["continue"] = token.clone();
        }
        let mut expect = json!({"rev": "+5"});
        if let Some(ok) = &self.ok {
            expect["ok"] = ok.clone();
        }
        if let Some(err) = &self.err {
            expect["err"] = self.own_error(err);
        }
        step["expect"] = expect;
        serde_json::from_value(step).unwrap()
    }

    fn name(&self) -> String {
        let Self { resource_version, resource_version_match, recursive, limit, .. } = self;
        let token = self.continues.as_ref().map(Value::to_string).unwrap_or_default();
        format!("{resource_version:?} {resource_version_match:?} {recursive} {limit} {token}")
    }

    /// A revision that has not happened yet is refused as such, where the reference passes on etcd's text.
    fn own_error(&self, err: &Value) -> Value {
        if !err["message"].as_str().unwrap().ends_with("required revision is a future revision") {
            return err.clone();
        }
        let requested = Base(BASE).relative_text(&self.resource_version);
        let message = format!("Timeout: Too large resource version: {requested}, current: +5");
        json!({"kind": "TooLargeResourceVersion", "message": message})
    }
}

/// The largest resource version of all makes the messages depend on where the recorder began.
const BASE: i64 = 12;

async fn check(kind: BackendKind) {
    let vectors: Vectors = serde_json::from_str(include_str!("../../data/list-revisions.json")).unwrap();
    let mut seat = Backends::new(kind).seat();
    let running = seat.take(false).await.unwrap();
    let scenario: Scenario = serde_json::from_value(json!({"name": "list-revisions", "steps": []})).unwrap();
    let mut session = Session::start(Arc::clone(&running.kv), &scenario, 11, false).await.unwrap();
    assert_eq!(session.notation.base.0, BASE);
    session.run(&vectors.setup).await;
    let mut wrong = Vec::new();
    for case in &vectors.cases {
        let step = case.step();
        let Action::List(list) = &step.action else { panic!("a list") };
        session.traced.begin();
        let mut seen = session.list(list).await.unwrap().seen;
        let requests = session.traced.end().unwrap_or_default();
        seen.rev = Some("+5".to_owned());
        shorten(&mut seen.ok, &mut seen.err);
        let name = case.name();
        wrong.extend(
            compare(step.expect.as_ref().unwrap(), &seen, false)
                .iter()
                .map(|found| format!("{name}: {found}")),
        );
        let read = requests.first().map(|request| read_revision(request));
        let expected = case.reads_revision.as_deref().map(newest_if_negative);
        if read.as_deref() != expected {
            wrong.push(format!("{name}: reads {read:?}, not {expected:?}"));
        }
    }
    session.finish().await.unwrap();
    assert_eq!(vectors.cases.len(), 768);
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Items are recorded by name, errors by kind and message.
fn shorten(ok: &mut Option<Value>, err: &mut Option<Value>) {
    if let Some(items) = ok.as_mut().and_then(|ok| ok["items"].as_array_mut()) {
        for item in items {
            *item = item["metadata"]["name"].clone();
        }
    }
    if let Some(Value::Object(fields)) = err {
        fields.retain(|name, _| name == "kind" || name == "message");
    }
}

fn newest_if_negative(revision: &str) -> &str {
    if revision.starts_with('-') { "0" } else { revision }
}

fn read_revision(request: &str) -> String {
    let revision = request.split(' ').find_map(|word| word.strip_prefix("rev="));
    revision.unwrap_or("0").to_owned()
}

#[tokio::test]
async fn as_recorded_in_memory() {
    check(BackendKind::Memory).await;
}

#[tokio::test]
async fn as_recorded_durable() {
    check(BackendKind::Durable).await;
}

#[tokio::test]
async fn as_recorded_on_etcd() {
    check(BackendKind::Etcd).await;
}
