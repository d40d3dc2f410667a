//! `kubestore diff` of two stores.

use std::{
    io::{self, Write},
    path::Path,
    pin::pin,
};

use anyhow::{Context, Result};
use futures_util::TryStreamExt;
use kubestore::kv::KeyValue;
use kubestore_admin::{DiffOptions, Difference, diff};
use serde::Serialize;

use super::{found, patch};
use crate::{
    args::{DiffArgs, ReportFormat},
    commands::{bar::Bar, scope, show},
    failure::AlreadyTold,
    object::Opener,
    output::to_yaml,
    session::{Session, open_snapshot},
};

#[derive(Debug, Default, Serialize)]
struct Report {
    added: u64,
    removed: u64,
    changed: u64,
    keys: Vec<Key>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Key {
    key: String,
    change: &'static str,
    before: Option<State>,
    after: Option<State>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    mod_revision: i64,
    version: i64,
    stored_bytes: usize,
}

pub(super) async fn run(session: &mut Session, from: &Path, args: &DiffArgs) -> Result<()> {
    let scope = scope(session, &args.resources)?;
    let before = open_snapshot(from, session.ignores_checksums()).await?;
    let bar = Bar::new(false);
    let options = DiffOptions::default().on_progress(bar.observer());
    let mut differences = pin!(diff(&before, session.kv(), scope, &options));
    let mut report = Report::default();
    let opener = session.opener();
    while let Some(difference) = differences.try_next().await.inspect_err(|_| bar.finish())? {
        if args.patch {
            let text = patch_of(opener, &difference).await?;
            bar.suspend(|| io::stdout().write_all(text.as_bytes()))?;
        }
        report.add(&difference, !args.patch);
    }
    bar.finish();
    if !args.patch {
        match args.output {
            ReportFormat::Json => show::json(&report)?,
            ReportFormat::Table => report.write()?,
        }
    }
    let is_same = report.added + report.removed + report.changed == 0;
    if args.exit_code && !is_same { Err(AlreadyTold.into()) } else { Ok(()) }
}

async fn patch_of(opener: &Opener, difference: &Difference) -> Result<String> {
    let key = String::from_utf8_lossy(&difference.key).into_owned();
    let (before, after) = (
        text(opener, difference.before.as_ref()).await.with_context(|| key.clone())?,
        text(opener, difference.after.as_ref()).await.with_context(|| key.clone())?,
    );
    let name = |kv: &Option<KeyValue>| match kv {
        Some(kv) => format!("{key}@{}", kv.mod_revision),
        None => "/dev/null".to_owned(),
    };
    Ok(patch::unified((&name(&difference.before), &before), (&name(&difference.after), &after)))
}

/// "" of a key that is not there.
async fn text(opener: &Opener, kv: Option<&KeyValue>) -> Result<String> {
    match kv {
        Some(kv) => {
            let object = found::object(opener, kv).await?;
            Ok(to_yaml(&object))
        }
        None => Ok(String::new()),
    }
}

impl Report {
    fn add(&mut self, difference: &Difference, keep: bool) {
        let (change, count) = if difference.is_added() {
            ("added", &mut self.added)
        } else if difference.is_removed() {
            ("removed", &mut self.removed)
        } else {
            ("changed", &mut self.changed)
        };
        *count += 1;
        if keep {
            self.keys.push(Key {
                key: String::from_utf8_lossy(&difference.key).into_owned(),
                change,
                before: difference.before.as_ref().map(state),
                after: difference.after.as_ref().map(state),
            });
        }
    }

    fn write(&self) -> Result<()> {
        let row = |key: &Key| {
            let revision = |state: &Option<State>| {
                state.as_ref().map_or_else(|| "-".to_owned(), |state| state.mod_revision.to_string())
            };
            let bytes = |state: &Option<State>| {
                state.as_ref().map_or_else(|| "-".to_owned(), |state| state.stored_bytes.to_string())
            };
            let mark = match key.change {
                "added" => "+",
                "removed" => "-",
                _ => "~",
            };
            vec![
                format!("{mark} {}", key.key),
                revision(&key.before),
                revision(&key.after),
                bytes(&key.before),
                bytes(&key.after),
            ]
        };
        show::table(&["KEY", "WAS AT", "IS AT", "BYTES WERE", "BYTES ARE"], self.keys.iter().map(row))?;
        let Self { added, removed, changed, .. } = self;
        show::line(&format!("{added} added, {removed} removed, {changed} changed"))
    }
}

fn state(kv: &KeyValue) -> State {
    State { mod_revision: kv.mod_revision.0, version: kv.version, stored_bytes: kv.value.len() }
}
