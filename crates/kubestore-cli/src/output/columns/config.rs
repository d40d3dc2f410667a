//! Configuration, accounts, events and quotas.

use kubestore::codec::Map;

use super::{AGE, Column, NAME};
use crate::output::view::{View, joined, or_none, scalar};

pub(super) const CONFIG_MAPS: &[Column] =
    &[NAME, Column::narrow("DATA", |view| (view.size("/data") + view.size("/binaryData")).to_string()), AGE];

pub(super) const SECRETS: &[Column] = &[
    NAME,
    // What the API server fills in.
    Column::narrow("TYPE", |view| view.at("/type").map_or_else(|| "Opaque".to_owned(), scalar)),
    Column::narrow("DATA", |view| view.size("/data").to_string()),
    AGE,
];

pub(super) const SERVICE_ACCOUNTS: &[Column] =
    &[NAME, Column::narrow("SECRETS", |view| view.size("/secrets").to_string()), AGE];

pub(super) const EVENTS: &[Column] = &[
    Column::narrow("LAST SEEN", last_seen),
    Column::narrow("TYPE", |view| view.cell("/type")),
    Column::narrow("REASON", |view| view.cell("/reason")),
    Column::narrow("OBJECT", object),
    Column::wide("SUBOBJECT", |view| view.text("/involvedObject/fieldPath").to_owned()),
    Column::wide("SOURCE", source),
    Column::narrow("MESSAGE", |view| view.text("/message").trim().to_owned()),
    Column::wide("FIRST SEEN", first_seen),
    Column::wide("COUNT", |view| match (view.integer("/series/count"), view.integer("/count")) {
        (0, 0) => "1".to_owned(),
        (0, count) | (count, _) => count.to_string(),
    }),
    Column::wide("NAME", |view| view.text("/metadata/name").to_owned()),
];

pub(super) const QUOTAS: &[Column] = &[
    NAME,
    Column::narrow("REQUEST", |view| quotas(view, |name| !name.starts_with("limits."))),
    Column::narrow("LIMIT", |view| quotas(view, |name| name.starts_with("limits."))),
    AGE,
];

/// The first of these times that the event has.
fn seen(view: &View<'_>, pointers: &[&str]) -> String {
    match pointers.iter().find(|pointer| !view.text(pointer).is_empty()) {
        Some(pointer) => view.age(pointer),
        None => "<unknown>".to_owned(),
    }
}

fn last_seen(view: &View<'_>) -> String {
    seen(view, &["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/firstTimestamp"])
}

fn first_seen(view: &View<'_>) -> String {
    seen(view, &["/firstTimestamp", "/eventTime"])
}

fn object(view: &View<'_>) -> String {
    let kind = view.text("/involvedObject/kind").to_lowercase();
    let name = view.text("/involvedObject/name");
    if name.is_empty() { kind } else { format!("{kind}/{name}") }
}

fn source(view: &View<'_>) -> String {
    let component = match view.text("/source/component") {
        "" => view.text("/reportingComponent"),
        component => component,
    };
    let host = match view.text("/source/host") {
        "" => view.text("/reportingInstance"),
        host => host,
    };
    let parts = [component, host].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

fn quotas(view: &View<'_>, is_wanted: fn(&str) -> bool) -> String {
    let hard = view.at("/status/hard").and_then(kubestore::codec::Value::as_object);
    let used = view.at("/status/used").and_then(kubestore::codec::Value::as_object);
    let texts =
        hard.into_iter().flat_map(Map::iter).filter(|(name, _)| is_wanted(name)).map(|(name, hard)| {
            let used = used.and_then(|used| used.get(name)).map_or_else(|| "0".to_owned(), scalar);
            format!("{name}: {used}/{}", scalar(hard))
        });
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() { or_none("") } else { joined([texts.join(", ")]) }
}
