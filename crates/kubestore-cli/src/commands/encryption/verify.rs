//! `kubestore encryption verify`.

use anyhow::Result;
use kubestore::transform::EncryptionConfig;
use kubestore_admin::{VerifyCounts, VerifyOptions, verify};

use crate::{
    args::{ReportFormat, VerifyArgs},
    commands::{bar::Bar, scope, show},
    failure::AlreadyTold,
    session::Session,
};

const COLUMNS: [&str; 6] = ["RESOURCE", "SEEN", "OPEN", "STALE", "FAILED", "WHY"];

pub(super) async fn run(session: &mut Session, config: &EncryptionConfig, args: &VerifyArgs) -> Result<()> {
    let scope = scope(session, &args.scope.resources)?;
    let bar = Bar::new(false);
    let options = VerifyOptions::default().on_progress(bar.observer());
    let report = verify(session.kv(), scope, config, &options).await;
    bar.finish();
    let report = report?;
    if args.scope.output == ReportFormat::Json {
        show::json(&report)?;
    } else {
        show::table(
            &COLUMNS,
            report.resources.iter().map(|(resource, counts)| row(&resource.to_string(), counts)),
        )?;
        let VerifyCounts { open, stale, failed, .. } = report.total;
        show::line(&format!("{open} open, {stale} stale, {failed} failed"))?;
    }
    show::failures(&report.failures)?;
    let is_due = args.current && report.total.stale > 0;
    if is_due {
        show::note(&format!("error: {} values are stale; kubestore encryption rewrap", report.total.stale))?;
    }
    if report.is_success() && !is_due { Ok(()) } else { Err(AlreadyTold.into()) }
}

fn row(resource: &str, counts: &VerifyCounts) -> Vec<String> {
    let causes = counts.causes.iter().map(|(cause, values)| format!("{values} {}", cause.as_str()));
    let numbers = [counts.seen, counts.open, counts.stale, counts.failed].map(|number| number.to_string());
    let causes = causes.collect::<Vec<_>>().join("; ");
    [resource.to_owned()].into_iter().chain(numbers).chain([causes]).collect()
}
