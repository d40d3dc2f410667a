//! `kubestore encryption status`.

use std::collections::HashMap;

use anyhow::Result;
use kubestore::transform::EncryptionConfig;
use kubestore_admin::{Census, CensusOptions, CensusRow, Standing, census};

use crate::{
    args::{ReportFormat, StatusArgs},
    commands::{bar::Bar, scope, show},
    session::Session,
};

pub(super) async fn run(
    session: &mut Session,
    config: Option<EncryptionConfig>,
    args: &StatusArgs,
) -> Result<()> {
    let scope = scope(session, &args.scope.resources)?;
    let bar = Bar::new(false);
    let options = CensusOptions::default().on_progress(bar.observer());
    let options = match &config {
        Some(config) => options.against(config),
        None => options,
    };
    let census = census(session.kv(), scope, &options).await;
    bar.finish();
    let census = census?;
    if args.scope.output == ReportFormat::Json {
        return show::json(&census);
    }
    show::table(columns(config.is_some()), rows(&census, config.is_some()))?;
    show::line(&summary(&census, config.is_some()))
}

fn columns(judged: bool) -> &'static [&'static str] {
    const COLUMNS: [&str; 8] =
        ["RESOURCE", "PROVIDER", "KEY", "ENCODING", "VALUES", "SHARE", "BYTES", "STATE"];
    if judged { &COLUMNS } else { &COLUMNS[..7] }
}

fn rows(census: &Census, judged: bool) -> Vec<Vec<String>> {
    let mut totals = HashMap::new();
    for row in &census.rows {
        *totals.entry(&row.resource).or_insert(0) += row.values;
    }
    census.rows.iter().map(|row| cells(row, totals[&row.resource], judged)).collect()
}

fn cells(row: &CensusRow, total: u64, judged: bool) -> Vec<String> {
    let dash = || "-".to_owned();
    let provider = match (row.provider.as_str(), row.version.as_deref()) {
        ("", _) => "damaged".to_owned(),
        (provider, None | Some("v1")) => provider.to_owned(),
        (provider, Some(version)) => format!("{provider} {version}"),
    };
    let mut cells = vec![
        row.resource.to_string(),
        provider,
        row.key_name.clone().unwrap_or_else(dash),
        row.encoding.map_or_else(dash, |encoding| encoding.as_str().to_owned()),
        row.values.to_string(),
        show::share(row.values, total),
        row.bytes.to_string(),
    ];
    if judged {
        cells.push(row.standing.map_or_else(dash, |standing| standing.as_str().to_owned()));
    }
    cells
}

fn summary(census: &Census, judged: bool) -> String {
    let Census { values, bytes, revision, .. } = census;
    let s = if *values == 1 { "" } else { "s" };
    let mut text = format!("{values} value{s}, {bytes} bytes, at revision {revision}");
    if judged {
        for standing in [Standing::Current, Standing::Stale, Standing::Unreadable, Standing::Unknown] {
            let values = census.values_that_are(standing);
            if values > 0 || standing == Standing::Stale {
                text += &format!(", {values} {}", standing.as_str());
            }
        }
    }
    text
}
