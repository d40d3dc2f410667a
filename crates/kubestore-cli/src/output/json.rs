//! JSON as kubectl prints it: indented by four, members in order.

use std::io::{self, Write};

use kubestore::codec::Map;
use serde::Serialize as _;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::{ListMeta, printer::end_of_list};

const INDENT: &[u8] = b"    ";

/// One object on lines of its own.
pub(super) fn object(object: &Map) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(INDENT)))?;
    out.push(b'\n');
    Ok(out)
}

/// One object in one line.
pub(super) fn line(object: &Map) -> io::Result<Vec<u8>> {
    let mut out = serde_json::to_vec(object)?;
    out.push(b'\n');
    Ok(out)
}

/// An item of a list; the first one opens the list.
pub(super) fn item(out: &mut dyn Write, map: &Map, is_first: bool) -> io::Result<()> {
    out.write_all(if is_first { b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n" } else { b",\n" })?;
    let text = object(map)?;
    let lines = text.trim_ascii_end().split(|byte| *byte == b'\n');
    for (number, line) in lines.enumerate() {
        let end: &[u8] = if number == 0 { b"" } else { b"\n" };
        for part in [end, INDENT, INDENT, line] {
            out.write_all(part)?;
        }
    }
    Ok(())
}

/// The end of a list, which has items or not.
pub(super) fn end(out: &mut dyn Write, meta: &ListMeta, is_empty: bool) -> io::Result<()> {
    out.write_all(if is_empty {
        b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [],\n"
    } else {
        b"\n    ],\n"
    })?;
    let rest = object(&end_of_list(meta))?;
    // The members of the rest go on where the list stands open.
    out.write_all(rest.strip_prefix(b"{\n").unwrap_or(&rest))
}
