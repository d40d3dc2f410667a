//! Nodes, namespaces and what a cluster is ruled by.

use kubestore::codec::Value;

use super::{AGE, Column, NAME};
use crate::output::view::{NONE, View, joined, member, or_none};

pub(super) const NODES: &[Column] = &[
    NAME,
    Column::narrow("STATUS", node_status),
    Column::narrow("ROLES", roles),
    AGE,
    Column::narrow("VERSION", |view| view.text("/status/nodeInfo/kubeletVersion").to_owned()),
    Column::wide("INTERNAL-IP", |view| address(view, "InternalIP")),
    Column::wide("EXTERNAL-IP", |view| address(view, "ExternalIP")),
    Column::wide("OS-IMAGE", |view| or_unknown(view, "/status/nodeInfo/osImage")),
    Column::wide("KERNEL-VERSION", |view| or_unknown(view, "/status/nodeInfo/kernelVersion")),
    Column::wide("CONTAINER-RUNTIME", |view| or_unknown(view, "/status/nodeInfo/containerRuntimeVersion")),
];

pub(super) const NAMESPACES: &[Column] = &[
    NAME,
    // A namespace is active from its creation by the API server on.
    Column::narrow("STATUS", |view| {
        view.at("/status/phase").map_or("Active", |_| view.text("/status/phase")).to_owned()
    }),
    AGE,
];

pub(super) const LEASES: &[Column] =
    &[NAME, Column::narrow("HOLDER", |view| view.text("/spec/holderIdentity").to_owned()), AGE];

pub(super) const RUNTIME_CLASSES: &[Column] =
    &[NAME, Column::narrow("HANDLER", |view| view.cell("/handler")), AGE];

pub(super) const PRIORITY_CLASSES: &[Column] = &[
    NAME,
    Column::narrow("VALUE", |view| view.integer("/value").to_string()),
    Column::narrow("GLOBAL-DEFAULT", |view| is_set(view, "/globalDefault").to_string()),
    AGE,
    Column::narrow("PREEMPTIONPOLICY", |view| view.cell("/preemptionPolicy")),
];

pub(super) const API_SERVICES: &[Column] = &[
    NAME,
    Column::narrow("SERVICE", |view| match view.text("/spec/service/name") {
        "" => "Local".to_owned(),
        name => format!("{}/{name}", view.text("/spec/service/namespace")),
    }),
    Column::narrow("AVAILABLE", |view| {
        let condition =
            view.objects("/status/conditions").find(|condition| member(condition, "type") == "Available");
        match condition.map(|condition| (member(condition, "status"), member(condition, "reason"))) {
            None => "Unknown".to_owned(),
            Some(("True", _) | (_, "")) => view.condition("Available").to_owned(),
            Some((status, reason)) => format!("{status} ({reason})"),
        }
    }),
    AGE,
];

pub(super) const FLOW_SCHEMAS: &[Column] = &[
    NAME,
    Column::narrow("PRIORITYLEVEL", |view| view.cell("/spec/priorityLevelConfiguration/name")),
    Column::narrow("MATCHINGPRECEDENCE", |view| view.integer("/spec/matchingPrecedence").to_string()),
    Column::narrow("DISTINGUISHERMETHOD", |view| view.cell("/spec/distinguisherMethod/type")),
    AGE,
    Column::narrow("MISSINGPL", |view| match view.condition("Dangling") {
        "" => "?".to_owned(),
        status => status.to_owned(),
    }),
];

pub(super) const PRIORITY_LEVELS: &[Column] = &[
    NAME,
    Column::narrow("TYPE", |view| view.cell("/spec/type")),
    Column::narrow("NOMINALCONCURRENCYSHARES", |view| view.cell("/spec/limited/nominalConcurrencyShares")),
    Column::narrow("QUEUES", |view| view.cell("/spec/limited/limitResponse/queuing/queues")),
    Column::narrow("HANDSIZE", |view| view.cell("/spec/limited/limitResponse/queuing/handSize")),
    Column::narrow("QUEUELENGTHLIMIT", |view| {
        view.cell("/spec/limited/limitResponse/queuing/queueLengthLimit")
    }),
    AGE,
];

fn is_set(view: &View<'_>, pointer: &str) -> bool {
    view.at(pointer).and_then(Value::as_bool).unwrap_or(false)
}

fn or_unknown(view: &View<'_>, pointer: &str) -> String {
    match view.text(pointer) {
        "" => "<unknown>".to_owned(),
        text => text.to_owned(),
    }
}

fn node_status(view: &View<'_>) -> String {
    let mut text = match view.condition("Ready") {
        "True" => "Ready",
        "" => "Unknown",
        _ => "NotReady",
    }
    .to_owned();
    if is_set(view, "/spec/unschedulable") {
        text.push_str(",SchedulingDisabled");
    }
    text
}

fn roles(view: &View<'_>) -> String {
    let labels = view.at("/metadata/labels").and_then(Value::as_object);
    let names = labels.into_iter().flat_map(|labels| labels.iter()).filter_map(|(key, value)| match key {
        "kubernetes.io/role" => value.as_str(),
        key => key.strip_prefix("node-role.kubernetes.io/"),
    });
    joined(names.filter(|name| !name.is_empty()))
}

fn address(view: &View<'_>, kind: &str) -> String {
    let found = view.objects("/status/addresses").find(|address| member(address, "type") == kind);
    found.map_or_else(|| NONE.to_owned(), |address| or_none(member(address, "address")))
}
