//! Pods and their templates.

use kubestore::codec::{Map, Value};

use super::{AGE, Column, NAME, workloads};
use crate::output::view::{View, joined, member, or_none};

pub(super) const PODS: &[Column] = &[
    NAME,
    Column::narrow("READY", ready),
    Column::narrow("STATUS", status),
    Column::narrow("RESTARTS", restarts),
    AGE,
    Column::wide("IP", |view| {
        let address = view.text("/status/podIPs/0/ip");
        or_none(if address.is_empty() { view.text("/status/podIP") } else { address })
    }),
    Column::wide("NODE", |view| or_none(view.text("/spec/nodeName"))),
    Column::wide("NOMINATED NODE", |view| or_none(view.text("/status/nominatedNodeName"))),
    Column::wide("READINESS GATES", gates),
];

pub(super) const POD_TEMPLATES: &[Column] = &[
    NAME,
    Column::narrow("CONTAINERS", |view| {
        joined(view.objects("/template/spec/containers").map(|container| member(container, "name")))
    }),
    Column::narrow("IMAGES", |view| {
        joined(view.objects("/template/spec/containers").map(|container| member(container, "image")))
    }),
    Column::narrow("POD LABELS", |view| view.pairs("/template/metadata/labels")),
    workloads::NO_AGE,
];

/// Init containers that go on running beside the others.
fn is_sidecar(view: &View<'_>, status: &Map) -> bool {
    let name = member(status, "name");
    view.objects("/spec/initContainers")
        .any(|container| member(container, "name") == name && member(container, "restartPolicy") == "Always")
}

fn is_true(object: &Map, name: &str) -> bool {
    object.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn statuses<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Map> {
    let view = *view;
    let sidecars =
        view.objects("/status/initContainerStatuses").filter(move |status| is_sidecar(&view, status));
    sidecars.chain(view.objects("/status/containerStatuses"))
}

fn ready(view: &View<'_>) -> String {
    let sidecars = view
        .objects("/spec/initContainers")
        .filter(|container| member(container, "restartPolicy") == "Always");
    let total = view.size("/spec/containers") + sidecars.count();
    let is_ready = |status: &&Map| is_true(status, "ready") && status.pointer("/state/running").is_some();
    format!("{}/{total}", statuses(view).filter(is_ready).count())
}

fn status(view: &View<'_>) -> String {
    let phase = view.text("/status/phase");
    let own_reason = view.text("/status/reason");
    let reason = match (own_reason, phase) {
        ("", "") => "Unknown",
        ("", phase) => phase,
        (reason, _) => reason,
    };
    let mut reason = reason.to_owned();
    let gated = view.objects("/status/conditions").find(|condition| {
        member(condition, "type") == "PodScheduled" && member(condition, "reason") == "SchedulingGated"
    });
    if gated.is_some() {
        "SchedulingGated".clone_into(&mut reason);
    }
    match initializing(view) {
        Some(text) => reason = text,
        None => containers(view, &mut reason),
    }
    if view.at("/metadata/deletionTimestamp").is_some() {
        if own_reason == "NodeLost" {
            return "Unknown".to_owned();
        }
        if !matches!(phase, "Failed" | "Succeeded") {
            return "Terminating".to_owned();
        }
    }
    reason
}

/// What the first init container that is not done says.
fn initializing(view: &View<'_>) -> Option<String> {
    let total = view.size("/spec/initContainers");
    for (number, status) in view.objects("/status/initContainerStatuses").enumerate() {
        let state = view.of(status);
        if state.at("/state/terminated").is_some() && state.integer("/state/terminated/exitCode") == 0 {
            continue;
        }
        if is_sidecar(view, status) && is_true(status, "started") {
            continue;
        }
        if state.at("/state/terminated").is_some() {
            return Some(format!("Init:{}", terminated(&state)));
        }
        let waiting = state.text("/state/waiting/reason");
        if !waiting.is_empty() && waiting != "PodInitializing" {
            return Some(format!("Init:{waiting}"));
        }
        return Some(format!("Init:{number}/{total}"));
    }
    None
}

/// What the containers say, the first one last.
fn containers(view: &View<'_>, reason: &mut String) {
    let statuses: Vec<_> = view.objects("/status/containerStatuses").collect();
    let mut is_running = false;
    for status in statuses.into_iter().rev() {
        let state = view.of(status);
        let waiting = state.text("/state/waiting/reason");
        if !waiting.is_empty() {
            waiting.clone_into(reason);
        } else if state.at("/state/terminated").is_some() {
            *reason = terminated(&state);
        } else if is_true(status, "ready") && state.at("/state/running").is_some() {
            is_running = true;
        }
    }
    if reason == "Completed" && is_running {
        let is_ready = view.condition("Ready") == "True";
        if is_ready { "Running" } else { "NotReady" }.clone_into(reason);
    }
}

fn terminated(state: &View<'_>) -> String {
    let signal = state.integer("/state/terminated/signal");
    match state.text("/state/terminated/reason") {
        "" if signal != 0 => format!("Signal:{signal}"),
        "" => format!("ExitCode:{}", state.integer("/state/terminated/exitCode")),
        reason => reason.to_owned(),
    }
}

fn restarts(view: &View<'_>) -> String {
    let count = |status: &Map| status.get("restartCount").and_then(Value::as_i64).unwrap_or(0);
    let is_initializing = initializing(view).is_some();
    let all: Vec<&Map> = if is_initializing {
        view.objects("/status/initContainerStatuses").collect()
    } else {
        statuses(view).collect()
    };
    let total: i64 = all.iter().map(|status| count(status)).sum();
    let finished = all.iter().map(|status| view.of(status).text("/lastState/terminated/finishedAt"));
    match finished.max() {
        Some(last) if total > 0 && !last.is_empty() => {
            format!("{total} ({} ago)", super::super::age::since(last, view.now))
        }
        _ => total.to_string(),
    }
}

fn gates(view: &View<'_>) -> String {
    let total = view.size("/spec/readinessGates");
    if total == 0 {
        return or_none("");
    }
    let passed = view
        .objects("/spec/readinessGates")
        .filter(|gate| view.condition(member(gate, "conditionType")) == "True")
        .count();
    format!("{passed}/{total}")
}
