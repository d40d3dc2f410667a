//! What takes the space.

use std::collections::HashMap;

use anyhow::Result;
use indicatif::BinaryBytes;
use kubestore::{
    codec::{Location, ResourceTable},
    kv::KeyValue,
};
use serde::Serialize;

use crate::{args::KeysFormat, commands::show};

/// How many places are told apart, so that memory stays bounded whatever is stored.
const MOST_PLACES: usize = 100_000;

/// Sums by resource and namespace.
#[derive(Debug)]
pub(super) struct Sizes {
    prefix: String,
    places: HashMap<Place, Sum>,
    total: Sum,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
struct Place {
    /// `/path` for keys that are of no known resource.
    resource: String,
    /// Of the objects of the cluster none.
    namespace: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Sum {
    keys: u64,
    stored_bytes: u64,
    largest_bytes: u64,
    largest_key: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    revision: i64,
    total: Sum,
    /// Of the database, with what is not compacted yet and free space.
    file_bytes: Option<u64>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    place: Place,
    #[serde(flatten)]
    sum: Sum,
}

impl Sizes {
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), places: HashMap::new(), total: Sum::default() }
    }

    pub(super) fn add(&mut self, kv: &KeyValue) {
        self.total.add(kv);
        let mut place = self.place(&kv.key);
        if self.places.len() >= MOST_PLACES && !self.places.contains_key(&place) {
            place = Place { resource: "/...".to_owned(), namespace: None };
        }
        self.places.entry(place).or_default().add(kv);
    }

    fn place(&self, key: &[u8]) -> Place {
        let key = String::from_utf8_lossy(key);
        match ResourceTable::builtin().locate(&self.prefix, &key) {
            Some(Location { resource, group_resource, namespace, .. })
                if resource.is_some() || !group_resource.group.is_empty() =>
            {
                Place { resource: group_resource.to_string(), namespace }
            }
            _ => {
                let rest = key.strip_prefix(self.prefix.as_str()).unwrap_or(&key).trim_start_matches('/');
                let mut parts = rest.split('/');
                let first = parts.next().unwrap_or_default();
                let namespace = parts.next().filter(|_| parts.next().is_some()).map(str::to_owned);
                Place { resource: format!("/{first}"), namespace }
            }
        }
    }

    pub(super) fn report(self, revision: i64, file_bytes: Option<u64>, format: KeysFormat) -> Result<()> {
        let mut rows: Vec<_> = self.places.into_iter().map(|(place, sum)| Row { place, sum }).collect();
        rows.sort_unstable_by(|a, b| {
            let order = b.sum.stored_bytes.cmp(&a.sum.stored_bytes);
            order.then_with(|| {
                (&a.place.resource, &a.place.namespace).cmp(&(&b.place.resource, &b.place.namespace))
            })
        });
        let report = Report { revision, total: self.total, file_bytes, rows };
        match format {
            KeysFormat::Json => show::json(&report),
            KeysFormat::Name | KeysFormat::Table => report.write(),
        }
    }
}

impl Sum {
    fn add(&mut self, kv: &KeyValue) {
        let bytes = kv.value.len() as u64;
        self.keys += 1;
        self.stored_bytes += bytes;
        if bytes > self.largest_bytes || self.largest_key.is_empty() {
            self.largest_bytes = bytes;
            self.largest_key = String::from_utf8_lossy(&kv.key).into_owned();
        }
    }
}

impl Report {
    fn write(&self) -> Result<()> {
        const COLUMNS: [&str; 6] = ["RESOURCE", "NAMESPACE", "KEYS", "SIZE", "SHARE", "LARGEST"];
        show::table(&COLUMNS, self.rows.iter().map(|row| self.row(row)))?;
        let Sum { keys, stored_bytes, .. } = self.total;
        let s = if keys == 1 { "" } else { "s" };
        let file = match self.file_bytes {
            Some(bytes) => format!(", the database is {}", BinaryBytes(bytes)),
            None => String::new(),
        };
        let size = BinaryBytes(stored_bytes);
        show::line(&format!("{keys} key{s}, values of {size} at revision {}{file}", self.revision))
    }

    fn row(&self, Row { place, sum }: &Row) -> Vec<String> {
        vec![
            place.resource.clone(),
            place.namespace.clone().unwrap_or_else(|| "-".to_owned()),
            sum.keys.to_string(),
            BinaryBytes(sum.stored_bytes).to_string(),
            show::share(sum.stored_bytes, self.total.stored_bytes),
            BinaryBytes(sum.largest_bytes).to_string(),
        ]
    }
}
