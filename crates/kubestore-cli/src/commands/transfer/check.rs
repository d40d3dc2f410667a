//! `kubestore check`.

use anyhow::Result;
use kubestore::transform::EncryptionConfig;
use kubestore_admin::{VerifyCounts, VerifyOptions, verify};

use crate::{
    args::{CheckArgs, ReportFormat},
    commands::{bar::Bar, scope, show},
    failure::AlreadyTold,
    session::Session,
};

const COLUMNS: [&str; 5] = ["RESOURCE", "SEEN", "GOOD", "BAD", "WHY"];
/// What applies if there is no configuration.
const PLAIN: &str = "{kind: EncryptionConfiguration, apiVersion: apiserver.config.k8s.io/v1, resources: \
                     [{resources: ['*.*'], providers: [{identity: {}}]}]}";

pub(in crate::commands) async fn run(
    session: &mut Session,
    config: Option<EncryptionConfig>,
    args: &CheckArgs,
) -> Result<()> {
    let scope = scope(session, &args.scope.resources)?;
    let config = match config {
        Some(config) => config,
        None => EncryptionConfig::from_str(PLAIN, "no configuration")?,
    };
    let bar = Bar::new(false);
    let options = VerifyOptions::default().check_contents(true).on_progress(bar.observer());
    let report = verify(session.kv(), scope, &config, &options).await;
    bar.finish();
    let report = report?;
    if args.scope.output == ReportFormat::Json {
        show::json(&report)?;
    } else {
        show::table(
            &COLUMNS,
            report.resources.iter().map(|(resource, counts)| row(&resource.to_string(), counts)),
        )?;
        let VerifyCounts { seen, failed, .. } = report.total;
        let s = if seen == 1 { "" } else { "s" };
        show::line(&format!(
            "{seen} key{s}, {} good, {failed} bad, at revision {}",
            seen - failed,
            report.revision
        ))?;
    }
    show::failures(&report.failures)?;
    if report.is_success() { Ok(()) } else { Err(AlreadyTold.into()) }
}

fn row(resource: &str, counts: &VerifyCounts) -> Vec<String> {
    let causes = counts.causes.iter().map(|(cause, values)| format!("{values} {}", cause.as_str()));
    let numbers = [counts.seen, counts.open, counts.failed].map(|number| number.to_string());
    let causes = causes.collect::<Vec<_>>().join("; ");
    [resource.to_owned()].into_iter().chain(numbers).chain([causes]).collect()
}
