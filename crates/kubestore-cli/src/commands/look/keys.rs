//! `kubestore keys`.

use std::io::{self, Write};

use anyhow::Result;
use bytes::Bytes;
use futures_util::StreamExt;
use kubestore::kv::{KeyValue, ListRequest, Revision};
use serde::Serialize;

use super::sizes::Sizes;
use crate::{
    args::{KeysArgs, KeysFormat},
    commands::show,
    session::Session,
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    key: String,
    stored_bytes: usize,
    create_revision: i64,
    mod_revision: i64,
    version: i64,
    lease: Option<String>,
}

pub(super) async fn run(session: &mut Session, args: &KeysArgs) -> Result<()> {
    let prefix = prefix(session, args.begin.as_deref()).await?;
    if args.sizes {
        let mut sizes = Sizes::new(session.prefix());
        let revision = each(session, prefix, false, |kv| {
            sizes.add(kv);
            Ok(())
        })
        .await?;
        let file = session.kv().status().await?.db_size;
        return sizes.report(revision.0, file, args.output.unwrap_or(KeysFormat::Table));
    }
    match args.output.unwrap_or(KeysFormat::Name) {
        KeysFormat::Name => {
            let mut stdout = io::BufWriter::new(io::stdout());
            each(session, prefix, true, |kv| Ok(writeln!(stdout, "{}", text(&kv.key))?)).await?;
            Ok(stdout.flush()?)
        }
        format => {
            let mut keys = Vec::new();
            each(session, prefix, false, |kv| {
                keys.push(key(kv));
                Ok(())
            })
            .await?;
            write(&keys, format)
        }
    }
}

/// What all wanted keys begin with.
async fn prefix(session: &mut Session, named: Option<&str>) -> Result<String> {
    match named {
        None => match session.named_namespace() {
            None => Ok(session.prefix().to_owned()),
            Some(_) => Err(crate::failure::Usage::new("a namespace is of a resource; name one").into()),
        },
        Some(prefix) if prefix.starts_with('/') => Ok(prefix.to_owned()),
        Some(resource) => {
            let resource = session.catalog.by_name(resource).await?;
            Ok(session.full_key(&resource.list_key(session.named_namespace())?) + "/")
        }
    }
}

/// Shows each key to `look`, and returns the revision of all of them.
async fn each(
    session: &Session,
    prefix: String,
    keys_only: bool,
    mut look: impl FnMut(&KeyValue) -> Result<()>,
) -> Result<Revision> {
    let request = ListRequest::new(Bytes::from(prefix));
    let request = if keys_only { request.keys_only() } else { request };
    let mut chunks = session.kv().list_chunks(request);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        chunk.kvs.iter().try_for_each(&mut look)?;
        if let Some(end) = chunk.end {
            return Ok(end.revision);
        }
    }
    anyhow::bail!("the list of keys was cut short; try again")
}

fn key(kv: &KeyValue) -> Key {
    Key {
        key: String::from_utf8_lossy(&kv.key).into_owned(),
        stored_bytes: kv.value.len(),
        create_revision: kv.create_revision.0,
        mod_revision: kv.mod_revision.0,
        version: kv.version,
        lease: kv.lease.map(|lease| lease.to_string()),
    }
}

/// A key in one line, with nothing in it that moves a terminal's cursor.
fn text(key: &[u8]) -> String {
    let key = String::from_utf8_lossy(key);
    if key.contains(char::is_control) { key.escape_debug().to_string() } else { key.into_owned() }
}

fn write(keys: &[Key], format: KeysFormat) -> Result<()> {
    if format == KeysFormat::Json {
        return show::json(&keys);
    }
    const COLUMNS: [&str; 6] = ["KEY", "BYTES", "VERSION", "CREATED", "MODIFIED", "LEASE"];
    let row = |key: &Key| {
        let numbers = [key.version, key.create_revision, key.mod_revision].map(|number| number.to_string());
        let lease = key.lease.clone().unwrap_or_else(|| "-".to_owned());
        let cells = [key.key.clone(), key.stored_bytes.to_string()];
        cells.into_iter().chain(numbers).chain([lease]).collect()
    };
    show::table(&COLUMNS, keys.iter().map(row))
}
