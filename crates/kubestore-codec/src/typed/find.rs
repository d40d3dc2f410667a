//! Fields of typed objects.

use std::borrow::Cow;

use serde::Serialize;

use crate::{field::FieldPath, json::field_text, value::Value};

/// Fills in the fields of `paths` that have no answer yet, from the serialised object. Serialises it only if there are
/// any.
pub(super) fn find_in_serialised<T: Serialize>(
    object: &T,
    paths: &[String],
    found: &mut [Option<Cow<'_, str>>],
) {
    let mut serialised = None;
    for (path, answer) in paths.iter().zip(found) {
        let path = FieldPath::new(path);
        if path.is_metadata() || answer.is_some() {
            continue;
        }
        let root = serialised.get_or_insert_with(|| serde_json::to_value(object).unwrap_or_default());
        let mut segments = path.segments();
        let value = segments.try_fold(&*root, |value, segment| value.get(segment));
        *answer = value.and_then(|value| {
            let scalar = Value::from(value.clone());
            field_text(&scalar, path).map(|text| Cow::Owned(text.into_owned()))
        });
    }
}
