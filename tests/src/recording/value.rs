//! JSON values as the recordings mean them.

use serde_json::{Number, Value};

/// Makes every number that is no 64-bit signed integer a float, as Kubernetes' decoder does.
pub(crate) fn normalize(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_i64().is_none() => {
            if let Some(float) = number.as_f64().and_then(Number::from_f64) {
                *number = float;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(fields) => fields.values_mut().for_each(normalize),
        _ => {}
    }
}

/// Whether two numbers have the same value, whichever form they are written in.
pub(crate) fn same_number(a: &Number, b: &Number) -> bool {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a == b,
        _ => a.as_f64() == b.as_f64(),
    }
}

/// Equality of JSON values with numbers compared by value.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(same(&json!({"a": [1, 2.5]}), &json!({"a": [1.0, 2.5]})));
        assert!(!same(&json!({"a": [1]}), &json!({"a": [2]})));
        assert!(!same(&json!({"a": 1}), &json!({"a": 1, "b": 1})));
        assert!(!same(&json!({"a": 1}), &json!({"b": 1})));
        assert!(!same(&json!([1]), &json!([1, 2])));
        assert!(!same(&json!("1"), &json!(1)));
        assert!(!same(&json!(i64::MAX), &json!(i64::MAX - 1)));
    }

    #[test]
    fn what_is_no_64_bit_integer_becomes_a_float() {
        let mut value = json!({"a": [9_223_372_036_854_775_808_u64, 7]});
        normalize(&mut value);
        assert!(value["a"][0].is_f64());
        assert!(value["a"][1].is_i64());
    }
}
