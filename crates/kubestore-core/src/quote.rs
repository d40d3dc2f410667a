//! Quoted text inside messages.

use std::fmt::Write as _;

/// `text` in double quotes with the escapes that Kubernetes' messages have (Go's `%q`): what is printable stays, control
/// characters become `\n`, `\x00` or `\u0085`.
///
/// ```
/// assert_eq!(kubestore_core::quote("a\"b\n\u{7f}é"), r#""a\"b\n\x7fé""#);
/// ```
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push_escaped(&mut out, c);
    }
    out.push('"');
    out
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        _ if is_printable(c) => out.push(c),
        _ => {
            let code = u32::from(c);
            // Writing to a string cannot fail.
            let _ = match code {
                0..0x80 => write!(out, "\\x{code:02x}"),
                0x80..0x1_0000 => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
        }
    }
}

/// Letters, marks, numbers, punctuation, symbols and the ASCII space.
fn is_printable(c: char) -> bool {
    match c {
        ' ' => true,
        _ if c.is_whitespace() || c.is_control() => false,
        '\'' => true,
        // `escape_debug` also escapes combining marks, which are printable.
        _ => c.escape_debug().len() == 1 || is_combining(c),
    }
}

fn is_combining(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f
        | 0x900..=0x903 | 0x93a..=0x94f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f
        | 0xfe20..=0xfe2f)
}
