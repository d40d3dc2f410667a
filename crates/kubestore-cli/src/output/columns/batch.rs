//! Jobs.

use super::{AGE, Column, NAME, workloads};
use crate::output::view::{NONE, View, joined, member, scalar};

pub(super) const JOBS: &[Column] = &[
    NAME,
    Column::narrow("STATUS", status),
    Column::narrow("COMPLETIONS", completions),
    Column::narrow("DURATION", |view| match view.text("/status/startTime") {
        "" => String::new(),
        _ => view.duration("/status/startTime", "/status/completionTime"),
    }),
    AGE,
    Column::wide("CONTAINERS", |view| {
        joined(view.objects("/spec/template/spec/containers").map(|container| member(container, "name")))
    }),
    Column::wide("IMAGES", |view| {
        joined(view.objects("/spec/template/spec/containers").map(|container| member(container, "image")))
    }),
    Column::wide("SELECTOR", |view| workloads::selector(view, "/spec/selector")),
];

pub(super) const CRON_JOBS: &[Column] = &[
    NAME,
    Column::narrow("SCHEDULE", |view| view.cell("/spec/schedule")),
    Column::narrow("TIMEZONE", |view| view.cell("/spec/timeZone")),
    Column::narrow("SUSPEND", |view| match view.at("/spec/suspend") {
        Some(suspend) => title(&scalar(suspend)),
        None => "False".to_owned(),
    }),
    Column::narrow("ACTIVE", |view| view.size("/status/active").to_string()),
    Column::narrow("LAST SCHEDULE", |view| match view.text("/status/lastScheduleTime") {
        "" => NONE.to_owned(),
        _ => view.age("/status/lastScheduleTime"),
    }),
    AGE,
    Column::wide("CONTAINERS", |view| {
        let containers = view.objects("/spec/jobTemplate/spec/template/spec/containers");
        joined(containers.map(|container| member(container, "name")))
    }),
    Column::wide("IMAGES", |view| {
        let containers = view.objects("/spec/jobTemplate/spec/template/spec/containers");
        joined(containers.map(|container| member(container, "image")))
    }),
    Column::wide("SELECTOR", |view| workloads::selector(view, "/spec/jobTemplate/spec/selector")),
];

fn title(text: &str) -> String {
    if text == "true" { "True".to_owned() } else { "False".to_owned() }
}

fn status(view: &View<'_>) -> String {
    let is = |kind| view.condition(kind) == "True";
    let text = if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if view.at("/metadata/deletionTimestamp").is_some() {
        "Terminating"
    } else if is("Suspended") {
        "Suspended"
    } else if is("FailureTarget") {
        "FailureTarget"
    } else if is("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    text.to_owned()
}

fn completions(view: &View<'_>) -> String {
    let succeeded = view.integer("/status/succeeded");
    match (view.at("/spec/completions"), view.integer("/spec/parallelism")) {
        (Some(wanted), _) => format!("{succeeded}/{}", scalar(wanted)),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
}
