//! The table itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::facts::{Facts, Field, Scalar, Shape};

const HEAD: &str = "\
# What Kubernetes' protobuf is made of. Written by `cargo xtask schema`; do not edit.
# First the kinds: a line `=VERSION`, and below it each kind of that version with the number of its message. Then the
# messages, counted from 0: a name, `@` if it is an object of a kind, and for each field its number, its type and its name
# in JSON. mod.rs says what the letters of the types mean.
";

const CLAIM: &str = "api/core/v1.PersistentVolumeClaim";

/// Writes the table. Types that are the same on the wire and in JSON become one message.
pub(super) fn write(facts: &Facts) -> Result<String> {
    let reachable = reachable(facts)?;
    let classes = merge(facts, &reachable);
    let mut names: BTreeMap<usize, &str> = BTreeMap::new();
    // A class is called by its first type; the order of the table is that of the paths.
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    for path in &reachable {
        let class = classes[path.as_str()];
        let next = numbers.len();
        numbers.entry(class).or_insert(next);
        names.entry(class).or_insert(path);
    }
    let number = |path: &str| numbers[&classes[path]];
    let mut out = HEAD.to_owned();
    let mut version = "";
    for ((api_version, kind), path) in &facts.kinds {
        if api_version != version {
            writeln!(out, "={api_version}")?;
            version = api_version;
        }
        writeln!(out, "{kind} {}", number(path))?;
    }
    let mut ordered: Vec<_> = numbers.iter().map(|(class, number)| (number, names[class])).collect();
    ordered.sort();
    out.push('\n');
    for (_, path) in ordered {
        out.push_str(path.rsplit('.').next().unwrap_or(path));
        if facts.is_kind(path) {
            out.push_str(" @");
        }
        for field in &facts.types[path] {
            write!(out, " {}{}:{}", field.number, letters(facts, path, field, &number), field.json_name)?;
        }
        out.push('\n');
    }
    Ok(out)
}

/// The types that a message of the table is needed for, in order of their paths.
fn reachable(facts: &Facts) -> Result<BTreeSet<String>> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = facts.kinds.values().map(String::as_str).collect();
    while let Some(path) = open.pop() {
        if !reached.insert(path.to_owned()) {
            continue;
        }
        let fields = facts.types.get(path).with_context(|| format!("{path} is not described"))?;
        for field in fields {
            let Scalar::Message(of) = field.shape.scalar() else { continue };
            match special(facts, of) {
                Special::None => open.push(of),
                Special::Letter(_) => {}
                Special::Schema(_, schema) => open.push(schema),
            }
        }
    }
    Ok(reached)
}

/// Gives types that are the same in everything the same class.
fn merge<'a>(facts: &Facts, paths: &'a BTreeSet<String>) -> BTreeMap<&'a str, usize> {
    let mut classes: BTreeMap<&str, usize> = paths.iter().map(|path| (path.as_str(), 0)).collect();
    let mut count = 0;
    loop {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut next = BTreeMap::new();
        for path in paths {
            let class = |path: &str| classes[path];
            let mut text = format!("{}{}", classes[path.as_str()], facts.is_kind(path));
            for field in &facts.types[path] {
                let _ = write!(
                    text,
                    " {}{}:{}",
                    field.number,
                    letters(facts, path, field, &class),
                    field.json_name
                );
            }
            let fresh = seen.len();
            next.insert(path.as_str(), *seen.entry(text).or_insert(fresh));
        }
        classes = next;
        // A round only ever splits classes.
        if seen.len() == count {
            return classes;
        }
        count = seen.len();
    }
}

enum Special<'a> {
    None,
    Letter(&'static str),
    /// A letter and the type of the schema that it may hold.
    Schema(&'static str, &'a str),
}

/// Types whose JSON is not that of a struct.
fn special<'a>(facts: &'a Facts, path: &str) -> Special<'a> {
    let fields = facts.types.get(path).map_or(&[][..], |fields| fields);
    let schema = fields.iter().find_map(|field| match field.shape.scalar() {
        Scalar::Message(of) if of.ends_with(".JSONSchemaProps") => Some(of.as_str()),
        _ => None,
    });
    let letter = match path.rsplit('/').next().unwrap_or(path) {
        "resource.Quantity" => "Q",
        "intstr.IntOrString" => "I",
        "v1.Time" if path.starts_with("apimachinery/") => "T",
        "v1.MicroTime" => "U",
        "v1.Duration" if path.starts_with("apimachinery/") => "D",
        "runtime.RawExtension" => "R",
        "v1.FieldsV1" | "v1.JSON" | "v1beta1.JSON" => "J",
        _ if fields.iter().any(|field| field.list) => "L",
        _ => "",
    };
    match (letter, schema, path.rsplit('.').next()) {
        (_, Some(schema), Some("JSONSchemaPropsOrBool")) => Special::Schema("B", schema),
        (_, Some(schema), Some("JSONSchemaPropsOrArray")) => Special::Schema("A", schema),
        (_, Some(schema), Some("JSONSchemaPropsOrStringArray")) => Special::Schema("S", schema),
        ("", ..) => Special::None,
        (letter, ..) => Special::Letter(letter),
    }
}

/// The type of a field of `owner` as letters.
fn letters(facts: &Facts, owner: &str, field: &Field, number: &dyn Fn(&str) -> usize) -> String {
    let mut out = match field.shape {
        Shape::Value(_) if field.inline => "<",
        Shape::Value(_) => "",
        Shape::Pointer(_) => "*",
        Shape::List(_) => "[",
        Shape::Map(_) => "{",
    }
    .to_owned();
    match field.shape.scalar() {
        Scalar::Text => out.push('s'),
        Scalar::Bool => out.push('b'),
        Scalar::Int32 => out.push('i'),
        Scalar::Int64 => out.push('l'),
        Scalar::Double => out.push('d'),
        Scalar::Bytes => out.push('y'),
        Scalar::Message(path) => match special(facts, path) {
            Special::None => {
                let _ = write!(out, "m{}", number(path));
            }
            Special::Letter(letter) => out.push_str(letter),
            Special::Schema(letter, schema) => {
                let _ = write!(out, "{letter}{}", number(schema));
            }
        },
    }
    if field.omit_empty {
        out.push('?');
    }
    if field.omit_zero {
        out.push('!');
    }
    // The API server gives the claims of a stateful set their type, which is not on the wire.
    if matches!(&field.shape, Shape::List(Scalar::Message(of)) if of == CLAIM) && !facts.is_kind(owner) {
        out.push('+');
    }
    // Only fields that are there without having been set tell versions apart, where their message is older.
    let earliest = facts.types.get(owner).into_iter().flatten().map(|field| field.since).min();
    if earliest.is_some_and(|earliest| field.since > earliest)
        && (matches!(field.shape, Shape::Value(_)) || !field.omit_empty)
    {
        let _ = write!(out, "^{}", field.since);
    }
    out
}
