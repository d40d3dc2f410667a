//! What runs pods, and what limits that.

use kubestore::codec::{Map, Value};

use super::{AGE, Column, NAME};
use crate::output::view::{View, joined, member, scalar};

/// Nothing, where other kinds have their age.
pub(super) const NO_AGE: Column = Column::wide("AGE", |view| view.age("/metadata/creationTimestamp"));

const CONTAINERS: Column = Column::wide("CONTAINERS", |view| {
    joined(view.objects("/spec/template/spec/containers").map(|container| member(container, "name")))
});
const IMAGES: Column = Column::wide("IMAGES", |view| {
    joined(view.objects("/spec/template/spec/containers").map(|container| member(container, "image")))
});
const SELECTOR: Column = Column::wide("SELECTOR", |view| match view.at("/spec/selector/matchLabels") {
    Some(_) => selector(view, "/spec/selector"),
    None if view.at("/spec/selector/matchExpressions").is_some() => selector(view, "/spec/selector"),
    None => view.pairs("/spec/selector"),
});

pub(super) const DEPLOYMENTS: &[Column] = &[
    NAME,
    Column::narrow("READY", |view| of(view, "/status/readyReplicas", "/spec/replicas")),
    Column::narrow("UP-TO-DATE", |view| view.integer("/status/updatedReplicas").to_string()),
    Column::narrow("AVAILABLE", |view| view.integer("/status/availableReplicas").to_string()),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REPLICA_SETS: &[Column] = &[
    NAME,
    Column::narrow("DESIRED", |view| replicas(view).to_string()),
    Column::narrow("CURRENT", |view| view.integer("/status/replicas").to_string()),
    Column::narrow("READY", |view| view.integer("/status/readyReplicas").to_string()),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const STATEFUL_SETS: &[Column] = &[
    NAME,
    Column::narrow("READY", |view| of(view, "/status/readyReplicas", "/spec/replicas")),
    AGE,
    CONTAINERS,
    IMAGES,
];

pub(super) const DAEMON_SETS: &[Column] = &[
    NAME,
    Column::narrow("DESIRED", |view| view.integer("/status/desiredNumberScheduled").to_string()),
    Column::narrow("CURRENT", |view| view.integer("/status/currentNumberScheduled").to_string()),
    Column::narrow("READY", |view| view.integer("/status/numberReady").to_string()),
    Column::narrow("UP-TO-DATE", |view| view.integer("/status/updatedNumberScheduled").to_string()),
    Column::narrow("AVAILABLE", |view| view.integer("/status/numberAvailable").to_string()),
    Column::narrow("NODE SELECTOR", |view| view.pairs("/spec/template/spec/nodeSelector")),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const CONTROLLER_REVISIONS: &[Column] = &[
    NAME,
    Column::narrow("CONTROLLER", controller),
    Column::narrow("REVISION", |view| view.integer("/revision").to_string()),
    AGE,
];

pub(super) const AUTOSCALERS: &[Column] = &[
    NAME,
    Column::narrow("REFERENCE", |view| {
        format!("{}/{}", view.text("/spec/scaleTargetRef/kind"), view.text("/spec/scaleTargetRef/name"))
    }),
    Column::narrow("TARGETS", targets),
    Column::narrow("MINPODS", |view| match view.at("/spec/minReplicas") {
        Some(minimum) => scalar(minimum),
        None => "<unset>".to_owned(),
    }),
    Column::narrow("MAXPODS", |view| view.integer("/spec/maxReplicas").to_string()),
    Column::narrow("REPLICAS", |view| view.integer("/status/currentReplicas").to_string()),
    AGE,
];

pub(super) const DISRUPTION_BUDGETS: &[Column] = &[
    NAME,
    Column::narrow("MIN AVAILABLE", |view| or_not_there(view, "/spec/minAvailable")),
    Column::narrow("MAX UNAVAILABLE", |view| or_not_there(view, "/spec/maxUnavailable")),
    Column::narrow("ALLOWED DISRUPTIONS", |view| view.integer("/status/disruptionsAllowed").to_string()),
    AGE,
];

fn or_not_there(view: &View<'_>, pointer: &str) -> String {
    view.at(pointer).map_or_else(|| "N/A".to_owned(), scalar)
}

/// One is what the API server fills in.
fn replicas(view: &View<'_>) -> i64 {
    view.at("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
}

fn of(view: &View<'_>, ready: &str, wanted: &str) -> String {
    let wanted = view.at(wanted).and_then(Value::as_i64).unwrap_or(1);
    format!("{}/{wanted}", view.integer(ready))
}

fn controller(view: &View<'_>) -> String {
    let is_controller = |owner: &&Map| owner.get("controller").and_then(Value::as_bool) == Some(true);
    match view.objects("/metadata/ownerReferences").find(is_controller) {
        Some(owner) => {
            let group = member(owner, "apiVersion").split_once('/').map_or("", |(group, _)| group);
            let kind = member(owner, "kind").to_lowercase();
            let dot = if group.is_empty() { "" } else { "." };
            format!("{kind}{dot}{group}/{}", member(owner, "name"))
        }
        None => crate::output::view::NONE.to_owned(),
    }
}

/// A label selector as text.
pub(super) fn selector(view: &View<'_>, pointer: &str) -> String {
    let labels = view.at(pointer).and_then(|selector| selector.get("matchLabels")).and_then(Value::as_object);
    let labels =
        labels.into_iter().flat_map(Map::iter).map(|(key, value)| format!("{key}={}", scalar(value)));
    let expressions = view.objects(&format!("{pointer}/matchExpressions")).map(|expression| {
        let key = member(expression, "key");
        let values = expression.get("values").and_then(Value::as_array);
        let values = values.map_or(String::new(), |values| joined(values.iter().map(scalar)));
        match member(expression, "operator") {
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            operator => format!("{key} {} ({values})", operator.to_lowercase()),
        }
    });
    joined(labels.chain(expressions))
}

/// What is measured and what is wanted, of resources; other metrics by their type.
fn targets(view: &View<'_>) -> String {
    let metrics: Vec<_> = view.objects("/spec/metrics").collect();
    let texts = metrics.iter().enumerate().map(|(number, metric)| {
        let spec = view.of(metric);
        if spec.text("/type") != "Resource" {
            return spec.text("/type").to_owned();
        }
        let name = spec.text("/resource/name");
        let now = format!("/status/currentMetrics/{number}/resource/current");
        let (wanted, now, unit) = match spec.at("/resource/target/averageUtilization") {
            Some(wanted) => (scalar(wanted), view.at(&format!("{now}/averageUtilization")), "%"),
            None => (spec.cell("/resource/target/averageValue"), view.at(&format!("{now}/averageValue")), ""),
        };
        let now = now.map_or_else(|| "<unknown>".to_owned(), |now| format!("{}{unit}", scalar(now)));
        format!("{name}: {now}/{wanted}{unit}")
    });
    joined(texts)
}
