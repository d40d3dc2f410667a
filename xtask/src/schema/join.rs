//! Whether the two sources agree.

use std::collections::{BTreeMap, BTreeSet};

use super::bindings::{self, Bindings};
use super::facts::{Facts, Field, Scalar, Shape};

/// Packages whose objects API servers do not store, and which the facts leave out.
const NOT_STORED: [&str; 3] = ["metrics/", "apimachinery/pkg/apis/testapigroup/", "api/apidiscovery/"];
/// What to say about the sources.
#[derive(Default)]
pub(super) struct Report {
    /// What only one of them has and is no fault.
    pub(super) notes: Vec<String>,
    /// What they contradict each other in.
    pub(super) faults: Vec<String>,
}

/// Compares every message and field of the bindings with the facts.
///
/// A message that the facts do not have is a fault only if a field leads to it; the others are not of any kind.
pub(super) fn check(facts: &Facts, bindings: &Bindings) -> Report {
    let mut report = Report::default();
    let types: BTreeMap<String, _> =
        facts.types.iter().map(|(path, fields)| (path.to_lowercase(), fields)).collect();
    let is_stored = |path: &str| !NOT_STORED.iter().any(|package| path.starts_with(package));
    let (mut joined, mut messages, mut alone) = (0, BTreeSet::new(), Vec::new());
    for (path, fields) in bindings.messages.iter().filter(|(path, _)| is_stored(path)) {
        let Some(known) = types.get(&path.to_lowercase()) else {
            alone.push(path.rsplit('.').next().unwrap_or(path));
            continue;
        };
        messages.insert(path.to_lowercase());
        for field in fields {
            match known.iter().find(|known| known.number == field.number) {
                _ if is_special(path) => {}
                None => report
                    .faults
                    .push(format!("{path}: the facts have no field {} `{}`", field.number, field.name)),
                Some(known) if agrees(known, field) => joined += 1,
                Some(known) => {
                    report.faults.push(format!("{path}: the facts have {known:?}, the bindings {field:?}"))
                }
            }
        }
    }
    for kind @ (version, name) in &bindings.kinds {
        if !version.contains("metrics.k8s.io") && !facts.kinds.contains_key(kind) {
            report.faults.push(format!("the facts have no kind {version} {name}"));
        }
    }
    let fields: usize = facts.types.values().map(Vec::len).sum();
    let others = types.keys().filter(|path| !messages.contains(*path)).count();
    report.notes.push(format!(
        "{joined} of {fields} fields are in the bindings too; {others} types are of other versions of Kubernetes"
    ));
    report.notes.push(format!("messages that belong to no kind: {}", alone.join(", ")));
    report
}

/// Types with a wire format of their own, whose Go fields are something else.
fn is_special(path: &str) -> bool {
    ["resource.Quantity", "meta/v1.Time", "meta/v1.MicroTime", "meta/v1.FieldsV1"]
        .iter()
        .any(|name| path.ends_with(name))
}

fn agrees(known: &Field, field: &bindings::Field) -> bool {
    let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let same_name = known.protobuf_name.is_empty() || plain(&known.protobuf_name) == plain(&field.name);
    let (repeated, map) = match known.shape {
        Shape::Value(_) | Shape::Pointer(_) => (false, false),
        Shape::List(_) => (true, false),
        Shape::Map(_) => (false, true),
    };
    let same_type = match (known.shape.scalar(), &field.scalar) {
        (Scalar::Message(known), Scalar::Message(field)) => known.eq_ignore_ascii_case(field),
        (known, field) => known == field,
    };
    same_name && same_type && repeated == field.repeated && map == field.map
}
