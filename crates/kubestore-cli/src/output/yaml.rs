//! YAML as kubectl prints it: members in order, lists not indented, long texts in blocks.

use std::fmt::Write as _;

use kubestore::codec::{Map, Value};

/// Writes an object as a block of lines, each after `indent` spaces but the first, which goes on where the line stands.
pub(super) fn object(out: &mut String, map: &Map, indent: usize) {
    for (number, (key, value)) in map.iter().enumerate() {
        if number > 0 {
            pad(out, indent);
        }
        scalar(out, key, None);
        out.push(':');
        member(out, value, indent);
    }
}

/// What follows the colon.
fn member(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            pad(out, indent + 2);
            object(out, map, indent + 2);
        }
        Value::Array(array) if !array.is_empty() => {
            out.push('\n');
            pad(out, indent);
            list(out, array, indent);
        }
        other => {
            out.push(' ');
            leaf(out, other, indent);
        }
    }
}

fn list(out: &mut String, values: &[Value], indent: usize) {
    for (number, value) in values.iter().enumerate() {
        if number > 0 {
            pad(out, indent);
        }
        out.push_str("- ");
        match value {
            Value::Object(map) if !map.is_empty() => object(out, map, indent + 2),
            Value::Array(array) if !array.is_empty() => list(out, array, indent + 2),
            other => leaf(out, other, indent),
        }
    }
}

/// A value that has no lines below it, and the end of its line.
fn leaf(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        Value::String(text) => scalar(out, text, Some(indent)),
        // Writing to a string cannot fail.
        Value::Integer(number) => _ = write!(out, "{number}"),
        Value::Float(number) => float(out, *number),
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

/// As Go writes floats in YAML: shortest, with an exponent from 1e+06 on and below 1e-04.
fn float(out: &mut String, number: f64) {
    let exponent = number.abs() >= 1e6 || (number != 0.0 && number.abs() < 1e-4);
    _ = if !exponent {
        write!(out, "{number}")
    } else {
        let text = format!("{number:e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) => {
                let (sign, digits) =
                    exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
                write!(out, "{mantissa}e{sign}{digits:0>2}")
            }
            None => write!(out, "{text}"),
        }
    };
}

/// Text in the plainest form that is read back as the same text. Blocks need to know how far they are indented.
fn scalar(out: &mut String, text: &str, indent: Option<usize>) {
    let is_multi_line = text.contains('\n');
    if text.is_empty() || (!is_multi_line && is_taken_for_something_else(text)) || needs_escapes(text) {
        double_quoted(out, text);
    } else if is_multi_line {
        match indent {
            Some(indent) => block(out, text, indent + 2),
            None => double_quoted(out, text),
        }
    } else if is_plain(text) {
        out.push_str(text);
    } else {
        // Writing to a string cannot fail.
        _ = write!(out, "'{}'", text.replace('\'', "''"));
    }
}

/// Control characters, and white space that a block or a plain text would lose.
fn needs_escapes(text: &str) -> bool {
    let is_odd = |c: char| {
        (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}')
    };
    text.contains(is_odd) || text.contains(" \n") || (text.contains('\n') && text.ends_with(' '))
}

fn double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        // Writing to a string cannot fail.
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c if c.is_control() => _ = write!(out, "\\x{:02x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A literal block: `|`, how far it is indented if its first line does not show it, and how its end is meant.
fn block(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    if text.starts_with([' ', '\n']) {
        out.push('2');
    }
    let body = text.trim_end_matches('\n');
    match text.len() - body.len() {
        0 => out.push('-'),
        1 if !body.is_empty() => {}
        _ => out.push('+'),
    }
    out.push('\n');
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            pad(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Whether a reader of YAML 1.1 or 1.2 would take the plain text for null, a truth value, a number or a time.
fn is_taken_for_something_else(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_word = matches!(
        lower.as_str(),
        "~" | "null"
            | "true"
            | "false"
            | "yes"
            | "no"
            | "on"
            | "off"
            | "y"
            | "n"
            | ".nan"
            | ".inf"
            | "-.inf"
            | "+.inf"
    );
    let starts_as_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    is_word || (starts_as_number && is_number_or_time(&lower))
}

/// Wider than any reader's idea of a number: quotes too many harm nobody.
fn is_number_or_time(lower: &str) -> bool {
    let digits = lower.trim_start_matches(['+', '-']);
    let is_number = digits.contains(|c: char| c.is_ascii_digit())
        && (digits.replace('_', "").parse::<f64>().is_ok()
            || ["0x", "0o", "0b"].iter().any(|prefix| digits.starts_with(prefix)));
    let has = |separators: [char; 2]| {
        lower.contains(separators)
            && lower
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, ':' | '-' | '.' | 't' | 'z' | '+' | ' ' | '_'))
            && lower.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-'))
    };
    is_number || has(['-', ':'])
}

/// Whether the text means itself without quotes.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next().unwrap_or(' ');
    let second = text.chars().nth(1).unwrap_or(' ');
    let opens = match first {
        '-' | '?' | ':' => second == ' ',
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
            true
        }
        _ => false,
    };
    let is_document = text.starts_with("---") || text.starts_with("...");
    !opens
        && !is_document
        && !text.starts_with(' ')
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the tools of Kubernetes print for the same object, but for lines that they fold.
    #[test]
    fn an_object_is_printed_as_kubectl_prints_it() {
        let map: Map = serde_json::from_str(
            r##"{"spec": {"a": [], "b": {}, "c": [[1, 2], [3]], "d": [{"a": 1, "b": [1]}, {}], "e": 1.5, "f": 1e21,
                "g": -1, "h": null, "i": true, "j": 1e-8, "k": 1e20},
                "data": {"amp": "&a", "blank": "a\n\n\nb\n\n", "brace": "{a}", "bs": "a\\b", "colon": "a: b",
                "colonend": "a:", "comma": "a, b", "crlf": "a\r\nb\n", "ctl": "a\u0001b", "dash": "- a",
                "date": "2024-01-01", "dot": ".", "dq": "say \"hi\"", "empty": "", "eq": "=", "float": "1e3",
                "gt": "> a", "hash": "a #b", "hex": "0x1F", "inf": ".inf", "justnl": "\n", "lead": " a\nb",
                "merge": "<<", "multi": "line1\nline2\n", "nonl": "line1\nline2", "null": "null", "num": "12",
                "oct": "0644", "pct": "%a", "plus": "+1", "q": "? a", "quote": "it's", "size": "100Mi",
                "tab": "a\tb", "tilde": "~", "time": "12:30:45", "trail": "a ", "trailspace": "a \nb\n",
                "under": "1_000", "version": "v1.2.3", "y": "yes"}}"##,
        )
        .unwrap();
        let mut out = String::new();
        object(&mut out, &map, 0);
        assert_eq!(out, include_str!("../../tests/kubectl.yaml"));
        let read: Map = serde_saphyr::from_str(&out).unwrap();
        assert_eq!(read, map);
    }
}
