//! Showing objects one after the other.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    mem,
};

use jiff::Timestamp;
use kubestore::codec::{Map, Value};

use super::{Column, Format, View, json, out::Out, table::Table, view::member, yaml};
use crate::{args::OutputArgs, object::as_served, resources::Resource};

/// What is known of a list at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListMeta {
    /// "" for a list that was put together from several.
    pub(crate) resource_version: String,
    pub(crate) continue_token: Option<String>,
    pub(crate) remaining: Option<i64>,
}

/// How objects are to be shown.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) format: Format,
    pub(crate) no_headers: bool,
    pub(crate) show_labels: bool,
    pub(crate) label_columns: Vec<String>,
    /// With a column for the namespace.
    pub(crate) namespaces: bool,
    /// With the resource before each name, since there are several.
    pub(crate) prefixed: bool,
    /// One object by itself, not a list of one.
    pub(crate) single: bool,
    /// With a column for the kind of change.
    pub(crate) events: bool,
}

impl Style {
    /// As the command line says.
    pub(crate) fn new(output: &OutputArgs, namespaces: bool) -> Self {
        Self {
            format: output.output,
            no_headers: output.no_headers,
            show_labels: output.show_labels,
            label_columns: output.label_columns.clone(),
            namespaces,
            prefixed: false,
            single: false,
            events: false,
        }
    }

    /// In this form and nothing else said.
    pub(crate) fn plain(format: Format) -> Self {
        let output =
            OutputArgs { output: format, no_headers: false, show_labels: false, label_columns: Vec::new() };
        Self::new(&output, false)
    }
}

/// Writes objects to standard output. Unless it is finished, an output of ordinary size is not written at all.
pub(crate) struct Printer {
    style: Style,
    out: Out,
    count: usize,
    table: Table,
    /// The resource that the table is of, by its full name.
    table_of: Option<String>,
    tables: usize,
}

impl Printer {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, out: Out::new(), count: 0, table: Table::default(), table_of: None, tables: 0 }
    }

    pub(crate) fn style(&self) -> &Style {
        &self.style
    }

    /// How many objects were shown.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Shows an object; a table is held back until [`finish`](Self::finish), since later rows decide its widths.
    pub(crate) fn object(&mut self, resource: &Resource, object: &Map) -> io::Result<()> {
        let is_first = self.count == 0;
        self.count += 1;
        let object = &*as_served(resource, object);
        match self.style.format {
            Format::Table | Format::Wide => self.row(resource, None, object),
            Format::Name => writeln!(self.out, "{}", resource.object_name(metadata(object, "name"))),
            Format::Json if self.style.single => self.out.write_all(&json::object(object)?),
            Format::Json => json::item(&mut self.out, object, is_first),
            Format::Yaml if self.style.single => {
                let mut text = String::new();
                yaml::object(&mut text, object, 0);
                self.out.write_all(text.as_bytes())
            }
            Format::Yaml => {
                let mut text = String::from(if is_first { "apiVersion: v1\nitems:\n- " } else { "- " });
                yaml::object(&mut text, object, 2);
                self.out.write_all(text.as_bytes())
            }
        }
    }

    /// Shows a change at once.
    pub(crate) fn event(&mut self, resource: &Resource, kind: &str, object: &Map) -> io::Result<()> {
        self.count += 1;
        let object = &*as_served(resource, object);
        let event = |object: &Map| -> Map {
            [("object", Value::Object(object.clone())), ("type", Value::from(kind))].into_iter().collect()
        };
        match (self.style.format, self.style.events) {
            (Format::Table | Format::Wide, events) => {
                self.row(resource, events.then_some(kind), object)?;
                self.table.write(&mut self.out)?;
            }
            (Format::Name, _) => writeln!(self.out, "{}", resource.object_name(metadata(object, "name")))?,
            (Format::Json, true) => self.out.write_all(&json::line(&event(object))?)?,
            (Format::Json, false) => self.out.write_all(&json::line(object)?)?,
            (Format::Yaml, events) => {
                let mut text = String::from("---\n");
                if events {
                    yaml::object(&mut text, &event(object), 0)
                } else {
                    yaml::object(&mut text, object, 0)
                }
                self.out.write_all(text.as_bytes())?;
            }
        }
        self.out.flush()
    }

    /// Writes what is held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.table.write(&mut self.out)?;
        self.out.flush()
    }

    /// Ends the output of a list, or of one object.
    pub(crate) fn finish(&mut self, meta: &ListMeta) -> io::Result<()> {
        match self.style.format {
            Format::Json if !self.style.single => json::end(&mut self.out, meta, self.count == 0)?,
            Format::Yaml if !self.style.single => {
                let mut text = String::from(if self.count == 0 { "apiVersion: v1\nitems: []\n" } else { "" });
                yaml::object(&mut text, &end_of_list(meta), 0);
                self.out.write_all(text.as_bytes())?;
            }
            _ => {}
        }
        self.flush()
    }

    fn row(&mut self, resource: &Resource, event: Option<&str>, object: &Map) -> io::Result<()> {
        let columns = resource.columns();
        let is_wide = self.style.format == Format::Wide;
        let shown = columns.iter().filter(move |column| is_wide || !column.wide);
        let namespaces = self.style.namespaces && resource.is_namespaced();
        if self.table_of.as_deref() != Some(&resource.full_name()) {
            self.begin_table(resource, namespaces, shown.clone())?;
        }
        let view = View { object, now: Timestamp::now() };
        let mut cells = Vec::new();
        if self.style.events {
            cells.push(event.unwrap_or_default().to_owned());
        }
        if namespaces {
            cells.push(metadata(object, "namespace").to_owned());
        }
        let name = metadata(object, "name");
        cells.extend(shown.map(|column| {
            let name = || if self.style.prefixed { resource.object_name(name) } else { name.to_owned() };
            column.text(&view).unwrap_or_else(name)
        }));
        cells.extend(self.style.label_columns.iter().map(|label| label_of(object, label).to_owned()));
        if self.style.show_labels {
            cells.push(view.pairs("/metadata/labels"));
        }
        self.table.push(cells);
        Ok(())
    }

    /// Writes the table before, and the header of this one.
    fn begin_table<'c>(
        &mut self,
        resource: &Resource,
        namespaces: bool,
        columns: impl Iterator<Item = &'c Column>,
    ) -> io::Result<()> {
        mem::take(&mut self.table).write(&mut self.out)?;
        if self.tables > 0 && !self.style.no_headers {
            writeln!(self.out)?;
        }
        self.tables += 1;
        self.table_of = Some(resource.full_name());
        if self.style.no_headers {
            return Ok(());
        }
        let mut header = Vec::new();
        if self.style.events {
            header.push("EVENT".to_owned());
        }
        if namespaces {
            header.push("NAMESPACE".to_owned());
        }
        header.extend(columns.map(|column| column.name.to_string()));
        let short = |label: &String| label.rsplit('/').next().unwrap_or_default().to_uppercase();
        header.extend(self.style.label_columns.iter().map(short));
        if self.style.show_labels {
            header.push("LABELS".to_owned());
        }
        self.table.push(header);
        Ok(())
    }
}

/// What follows the items of a list.
pub(super) fn end_of_list(meta: &ListMeta) -> Map {
    let mut members = BTreeMap::from([("resourceVersion", Value::from(meta.resource_version.as_str()))]);
    if let Some(token) = &meta.continue_token {
        members.insert("continue", Value::from(token.as_str()));
    }
    if let Some(remaining) = meta.remaining {
        members.insert("remainingItemCount", Value::Integer(remaining));
    }
    let metadata: Map = members.into_iter().collect();
    [("kind", Value::from("List")), ("metadata", Value::Object(metadata))].into_iter().collect()
}

fn metadata<'a>(object: &'a Map, name: &str) -> &'a str {
    object.get("metadata").and_then(Value::as_object).map_or("", |metadata| member(metadata, name))
}

fn label_of<'a>(object: &'a Map, label: &str) -> &'a str {
    let labels = object.get("metadata").and_then(|metadata| metadata.get("labels"));
    labels.and_then(|labels| labels.get(label)).and_then(Value::as_str).unwrap_or_default()
}
