//! JSON pointers, in the dialect of the recordings.

use serde_json::{Map, Value};

fn parts(pointer: &str) -> Vec<String> {
    if pointer.is_empty() {
        return Vec::new();
    }
    let path = pointer.strip_prefix('/').unwrap_or(pointer);
    path.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

/// What `pointer` points to.
pub(crate) fn pointer_get<'v>(root: &'v Value, pointer: &str) -> Option<&'v Value> {
    parts(pointer).iter().try_fold(root, |value, part| match value {
        Value::Object(fields) => fields.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Sets a value, making objects on the way; whatever is on the way and no object is replaced by one.
pub(crate) fn pointer_set(root: &mut Value, pointer: &str, value: Value) {
    let parts = parts(pointer);
    let Some((last, way)) = parts.split_last() else { return };
    let mut place = fields_of(root);
    for part in way {
        place = fields_of(place.entry(part.clone()).or_insert(Value::Null));
    }
    place.insert(last.clone(), value);
}

/// Removes a value if it is there and reached through objects only.
pub(crate) fn pointer_unset(root: &mut Value, pointer: &str) {
    let parts = parts(pointer);
    let Some((last, way)) = parts.split_last() else { return };
    let mut place = root;
    for part in way {
        let Some(next) = place.as_object_mut().and_then(|fields| fields.get_mut(part)) else { return };
        place = next;
    }
    if let Some(fields) = place.as_object_mut() {
        fields.remove(last);
    }
}

fn fields_of(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(fields) => fields,
        _ => unreachable!("made an object above"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn set_makes_objects_on_the_way() {
        let mut value = Value::Null;
        pointer_set(&mut value, "/metadata/labels/a~1b", json!("x"));
        assert_eq!(value, json!({"metadata": {"labels": {"a/b": "x"}}}));
        pointer_set(&mut value, "/metadata/labels/a~1b/c", json!(1));
        assert_eq!(value, json!({"metadata": {"labels": {"a/b": {"c": 1}}}}));
    }

    #[test]
    fn get_goes_through_arrays_and_unset_does_not() {
        let mut value = json!({"a": [{"b": 1}]});
        assert_eq!(pointer_get(&value, "/a/0/b"), Some(&json!(1)));
        assert_eq!(pointer_get(&value, "/a/1"), None);
        assert_eq!(pointer_get(&value, ""), Some(&value));
        pointer_unset(&mut value, "/a/0/b");
        pointer_unset(&mut value, "/x/y");
        assert_eq!(value, json!({"a": [{"b": 1}]}));
        pointer_unset(&mut value, "/a");
        assert_eq!(value, json!({}));
    }
}
