//! What scenarios do to objects: edits, and what they require.

use serde_json::{Map, Value, json};

use super::{Base, pointer_get, pointer_set, pointer_unset, same};

const RESOURCE_VERSION: &str = "/metadata/resourceVersion";

/// Sets, then adds, then removes.
pub(crate) fn edit(
    object: &mut Value,
    set: &Map<String, Value>,
    incr: &Map<String, Value>,
    unset: &[String],
    base: Base,
) {
    // Maps are in the order of their keys' bytes.
    for (pointer, value) in set {
        let value = match value.as_str() {
            Some(text) if pointer == RESOURCE_VERSION => json!(base.absolute_text(text)),
            _ => value.clone(),
        };
        pointer_set(object, pointer, value);
    }
    for (pointer, by) in incr {
        let old = pointer_get(object, pointer).and_then(Value::as_i64).unwrap_or_default();
        pointer_set(object, pointer, json!(old.wrapping_add(by.as_i64().unwrap_or(1))));
    }
    for pointer in unset {
        pointer_unset(object, pointer);
    }
}

/// The refusal, unless every pointer has its value.
pub(crate) fn unmet(object: &Value, require: &Map<String, Value>, message: Option<&str>) -> Option<String> {
    let met = require
        .iter()
        .all(|(pointer, wanted)| pointer_get(object, pointer).is_some_and(|value| same(value, wanted)));
    let message = message.filter(|text| !text.is_empty()).unwrap_or("requirement not met");
    (!met).then(|| message.to_owned())
}

/// An object with its resource version as a decimal.
pub(crate) fn absolute(mut object: Value, base: Base) -> Value {
    rewrite_version(&mut object, |text| base.absolute_text(text));
    object
}

/// An object with its resource version relative, as recordings have it.
pub(crate) fn relative(mut object: Value, base: Base) -> Value {
    rewrite_version(&mut object, |text| base.relative_text(text));
    object
}

fn rewrite_version(object: &mut Value, rewrite: impl Fn(&str) -> String) {
    if let Some(Value::String(version)) = object.pointer_mut(RESOURCE_VERSION) {
        *version = rewrite(version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(fields) = value else { panic!("an object") };
        fields
    }

    #[test]
    fn edits_come_in_their_order() {
        let mut object = json!({"spec": {"n": 1, "f": 1.5}, "x": 1});
        let set = map(json!({"/spec/m": 5, "/metadata/resourceVersion": "+2"}));
        let incr = map(json!({"/spec/n": 10, "/spec/f": 1, "/spec/new": 2, "/spec/m": 1}));
        edit(&mut object, &set, &incr, &["/x".to_owned()], Base(40));
        assert_eq!(
            object,
            json!({"spec": {"n": 11, "f": 1, "new": 2, "m": 6}, "metadata": {"resourceVersion": "42"}})
        );
        assert_eq!(relative(object.clone(), Base(40))["metadata"]["resourceVersion"], "+2");
        assert_eq!(absolute(relative(object.clone(), Base(40)), Base(40)), object);
    }

    #[test]
    fn requirements_name_values_that_must_be_there() {
        let object = json!({"a": {"b": 1}});
        assert_eq!(unmet(&object, &map(json!({"/a/b": 1.0})), None), None);
        assert_eq!(unmet(&object, &map(json!({"/a/b": 2})), Some("no")).as_deref(), Some("no"));
        assert_eq!(unmet(&object, &map(json!({"/a/c": null})), None).as_deref(), Some("requirement not met"));
    }
}
