//! Who may do what, and what is looked at before it is done.

use kubestore::codec::{Map, Value};

use super::{AGE, Column, NAME};
use crate::output::view::{NONE, View, member, or_none};

pub(super) const BINDINGS: &[Column] = &[
    NAME,
    Column::narrow("ROLE", |view| format!("{}/{}", view.text("/roleRef/kind"), view.text("/roleRef/name"))),
    AGE,
    Column::wide("USERS", |view| subjects(view, "User")),
    Column::wide("GROUPS", |view| subjects(view, "Group")),
    Column::wide("SERVICEACCOUNTS", |view| subjects(view, "ServiceAccount")),
];

pub(super) const SIGNING_REQUESTS: &[Column] = &[
    NAME,
    AGE,
    Column::narrow("SIGNERNAME", |view| view.cell("/spec/signerName")),
    Column::narrow("REQUESTOR", |view| or_none(view.text("/spec/username"))),
    Column::narrow("REQUESTEDDURATION", |view| match view.integer("/spec/expirationSeconds") {
        0 => NONE.to_owned(),
        seconds => format!("{seconds}s"),
    }),
    Column::narrow("CONDITION", request_status),
];

pub(super) const WEBHOOKS: &[Column] =
    &[NAME, Column::narrow("WEBHOOKS", |view| view.size("/webhooks").to_string()), AGE];

pub(super) const ADMISSION_POLICIES: &[Column] = &[
    NAME,
    Column::narrow("VALIDATIONS", |view| view.size("/spec/validations").to_string()),
    Column::narrow("PARAMKIND", |view| match view.text("/spec/paramKind/kind") {
        "" => "<unset>".to_owned(),
        kind => format!("{}/{kind}", view.text("/spec/paramKind/apiVersion")),
    }),
    AGE,
];

pub(super) const POLICY_BINDINGS: &[Column] = &[
    NAME,
    Column::narrow("POLICYNAME", |view| view.cell("/spec/policyName")),
    Column::narrow("PARAMREF", |view| {
        let parts = [view.text("/spec/paramRef/namespace"), view.text("/spec/paramRef/name")];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { "<unset>".to_owned() } else { parts.join("/") }
    }),
    AGE,
];

fn subjects(view: &View<'_>, kind: &str) -> String {
    let name = |subject: &Map| {
        let namespace = subject.get("namespace").and_then(Value::as_str).filter(|_| kind == "ServiceAccount");
        match namespace {
            Some(namespace) => format!("{namespace}/{}", member(subject, "name")),
            None => member(subject, "name").to_owned(),
        }
    };
    let names = view.objects("/subjects").filter(|subject| member(subject, "kind") == kind).map(name);
    names.collect::<Vec<_>>().join(", ")
}

fn request_status(view: &View<'_>) -> String {
    let has = |kind| !view.condition(kind).is_empty();
    let mut parts = Vec::new();
    parts.push(match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    });
    if has("Failed") {
        parts.push("Failed");
    }
    if !view.text("/status/certificate").is_empty() {
        parts.push("Issued");
    }
    parts.join(",")
}
