//! `kubestore encryption rewrap`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Result, bail};
use kubestore::transform::EncryptionConfig;
use kubestore_admin::{RewrapCounts, RewrapOptions, RewrapReport, rewrap};

use super::patience;
use crate::{
    args::{ReportFormat, RewrapArgs},
    commands::{bar::Bar, scope, show},
    failure::AlreadyTold,
    session::Session,
};

const COLUMNS: [&str; 7] = ["RESOURCE", "SEEN", "FRESH", "REWRITTEN", "RETRIES", "VANISHED", "FAILED"];

pub(super) async fn run(
    session: &mut Session,
    config: &EncryptionConfig,
    timeout: Option<Duration>,
    args: &RewrapArgs,
) -> Result<()> {
    let scope = scope(session, &args.scope.resources)?;
    let (bar, written) = (Bar::new(true), Arc::new(AtomicU64::new(0)));
    let options = RewrapOptions::default()
        .concurrency(args.concurrency.into())
        .rate(args.rate)
        .dry_run(args.dry_run)
        .retry_for(patience(timeout))
        .on_progress({
            let (show, written) = (bar.observer(), Arc::clone(&written));
            move |progress| {
                written.store(progress.written, Ordering::Relaxed);
                show(progress);
            }
        });
    let report = tokio::select! {
        report = rewrap(session.kv(), scope, config, &options) => Some(report),
        _ = tokio::signal::ctrl_c() => None,
    };
    bar.finish();
    let Some(report) = report else {
        let written = if args.dry_run { 0 } else { written.load(Ordering::Relaxed) };
        bail!("interrupted after {written} values were rewritten; do it again to go on from there");
    };
    let report = report?;
    if args.scope.output == ReportFormat::Json {
        show::json(&report)?;
    } else {
        show::table(
            &COLUMNS,
            report.resources.iter().map(|(resource, counts)| row(&resource.to_string(), counts)),
        )?;
        show::line(&last_line(&report))?;
    }
    tell(&report)
}

/// Says what is not as it should be.
fn tell(report: &RewrapReport) -> Result<()> {
    show::failures(&report.failures)?;
    if report.written_meanwhile > 0 {
        show::note(&format!(
            "{}: {} values were written with an older configuration since this began; give every API server the new one{}",
            if report.complete { "warning" } else { "error" },
            report.written_meanwhile,
            if report.complete { ", and do it again" } else { " first, then do it again" },
        ))?;
    } else if !report.complete {
        show::note("error: some values changed all the time; do it again")?;
    }
    if report.is_success() { Ok(()) } else { Err(AlreadyTold.into()) }
}

fn row(resource: &str, counts: &RewrapCounts) -> Vec<String> {
    let RewrapCounts { seen, fresh, rewritten, retries, vanished, failed, .. } = counts;
    let numbers = [seen, fresh, rewritten, retries, vanished, failed];
    [resource.to_owned()].into_iter().chain(numbers.map(u64::to_string)).collect()
}

fn last_line(report: &RewrapReport) -> String {
    let RewrapCounts { rewritten, failed, retries, .. } = report.total;
    let done = if report.dry_run { "would be rewritten" } else { "rewritten" };
    if (rewritten, failed, retries) == (0, 0, 0) {
        return format!("0 {done}");
    }
    format!("{rewritten} {done}, {failed} failed, {retries} retries")
}
