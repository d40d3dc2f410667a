//! JSON as kubectl prints it: indented by four, members in order.

use std::io::{self, Write};

use kubestore::codec::Map;
use serde::Serialize as _;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::{ListMeta, printer::end_of_list};

const INDENT: &[u8] = b"    ";

/// One object on lines of its own.
pub(super) fn object(object: &Map) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let layout = Floats(PrettyFormatter::with_indent(INDENT));
    object.serialize(&mut Serializer::with_formatter(&mut out, layout))?;
    out.push(b'\n');
    Ok(out)
}

/// One object in one line.
pub(super) fn line(object: &Map) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    object.serialize(&mut Serializer::with_formatter(&mut out, Floats(CompactFormatter)))?;
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

/// Another layout, with floats as Go writes them: `3` and not `3.0`, with an exponent from 1e+21 on and below 1e-6.
struct Floats<F>(F);

impl<F: Formatter> Formatter for Floats<F> {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, number: f64) -> io::Result<()> {
        if number == 0.0 || (1e-6..1e21).contains(&number.abs()) {
            return write!(out, "{number}");
        }
        let text = format!("{number:e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) if !exponent.starts_with('-') => write!(out, "{mantissa}e+{exponent}"),
            _ => out.write_all(text.as_bytes()),
        }
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use kubestore::codec::{Map, Value};

    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (number, text) in [
            (3.0, "3"),
            (-0.5, "-0.5"),
            (0.0, "0"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (-1.5e300, "-1.5e+300"),
            (0.000_001, "0.000001"),
            (1.25e-7, "1.25e-7"),
        ] {
            let map: Map = [("n", Value::Float(number))].into_iter().collect();
            assert_eq!(super::line(&map).unwrap(), format!("{{\"n\":{text}}}\n").into_bytes());
            let pretty = format!("{{\n    \"n\": {text}\n}}\n").into_bytes();
            assert_eq!(super::object(&map).unwrap(), pretty);
        }
    }
}
