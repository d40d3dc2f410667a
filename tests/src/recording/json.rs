//! JSON text as Go's encoder writes it, apart from the code under test.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// A value with its names in order, no spaces, and Go's escapes and floats.
pub(crate) fn go_json(value: &Value) -> String {
    let mut out = String::new();
    push_value(&mut out, value);
    out
}

fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
        Value::Number(number) => push_number(out, number),
        Value::String(text) => push_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                push_value(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut names: Vec<_> = fields.iter().collect();
            names.sort_by_key(|(name, _)| name.as_bytes());
            out.push('{');
            for (position, (name, value)) in names.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                push_string(out, name);
                out.push(':');
                push_value(out, value);
            }
            out.push('}');
        }
    }
}

/// The shortest digits that read back, with an exponent below 1e-6 and from 1e21 on.
fn push_number(out: &mut String, number: &Number) {
    let float = match number.as_i64() {
        Some(integer) => return out.push_str(&integer.to_string()),
        None => number.as_f64().unwrap_or_default(),
    };
    let size = float.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{float:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let sign = if exponent.starts_with('-') { "" } else { "+" };
        // Writing to a string cannot fail.
        let _ = write!(out, "{digits}e{sign}{exponent}");
    } else {
        out.push_str(&float.to_string());
    }
}

/// A JSON string with the escapes of Go's encoder.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_written_as_go_writes_it() {
        for (value, text) in [
            (
                json!({"b": [1, -2.5, true, null], "a": {"x": "<\u{1}\n\u{2028}é>"}}),
                r#"{"a":{"x":"\u003c\u0001\n\u2028é\u003e"},"b":[1,-2.5,true,null]}"#,
            ),
            (
                json!([1e21, 1e20, 1e-6, 1e-7, 1.5e300, 0.0]),
                "[1e+21,100000000000000000000,0.000001,1e-7,1.5e+300,0]",
            ),
            (json!([i64::MAX, -3]), "[9223372036854775807,-3]"),
        ] {
            assert_eq!(go_json(&value), text);
        }
    }
}
