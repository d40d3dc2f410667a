//! `kubestore repair`.

use anyhow::Result;
use kubestore::embedded::{CheckOptions, CheckReport, Embedded, Problem, RepairReport};
use serde::Serialize;

use super::show;
use crate::{
    args::{GlobalArgs, RepairArgs, ReportFormat},
    failure::AlreadyTold,
    session,
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Checked {
    sound: bool,
    revision: i64,
    compacted_revision: i64,
    keys: u64,
    versions: u64,
    leases: u64,
    bytes: u64,
    /// As a kill leaves it; the next opening cuts it off.
    torn_end: bool,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Repaired {
    changed: bool,
    revision: i64,
    keys: u64,
    keys_without_lease: u64,
    history_kept: bool,
    /// Where the data is that was there before.
    kept_in: Option<String>,
    problems: Vec<String>,
}

pub(super) async fn run(global: &GlobalArgs, args: &RepairArgs) -> Result<()> {
    let directory = session::existing_directory(global, "repair")?;
    let mut options = CheckOptions::default();
    options.scratch.clone_from(&args.scratch);
    if args.dry_run {
        return tell_checked(&Embedded::check(directory, options).await?, args.output);
    }
    tell_repaired(&Embedded::repair(directory, options).await?, args.output)
}

fn tell_checked(report: &CheckReport, format: ReportFormat) -> Result<()> {
    let CheckReport { head, compacted, keys, versions, leases, bytes, torn_end, problems, .. } = report;
    let checked = Checked {
        sound: report.is_sound(),
        revision: head.0,
        compacted_revision: compacted.0,
        keys: *keys,
        versions: *versions,
        leases: *leases,
        bytes: *bytes,
        torn_end: *torn_end,
        problems: texts(problems),
    };
    match format {
        ReportFormat::Json => show::json(&checked)?,
        ReportFormat::Table => {
            show::line(&format!("{keys} keys, {versions} versions, {leases} leases, at revision {head}"))?;
            if *torn_end {
                show::line(
                    "the end of the journal is torn, as a kill leaves it; the next opening cuts it off",
                )?;
            }
        }
    }
    for problem in problems {
        show::note(&format!("error: {problem}"))?;
    }
    if report.is_sound() { Ok(()) } else { Err(AlreadyTold.into()) }
}

fn tell_repaired(report: &RepairReport, format: ReportFormat) -> Result<()> {
    let RepairReport { problems, kept, history_kept, keys, without_lease, head, .. } = report;
    let kept = kept.as_ref().map(|kept| kept.display().to_string());
    if format == ReportFormat::Json {
        return show::json(&Repaired {
            changed: kept.is_some(),
            revision: head.0,
            keys: *keys,
            keys_without_lease: *without_lease,
            history_kept: *history_kept,
            kept_in: kept,
            problems: texts(problems),
        });
    }
    for problem in problems {
        show::note(&format!("was wrong: {problem}"))?;
    }
    let Some(kept) = kept else {
        return show::line("nothing is wrong, and nothing was changed");
    };
    show::line(&format!("repaired: {keys} keys at revision {head}; what was there before is in {kept}"))?;
    if !history_kept {
        show::line("the history is lost: watches and paged lists have to begin anew")?;
    }
    if *without_lease > 0 {
        show::line(&format!("{without_lease} keys lost their lease, and do not end any more"))?;
    }
    Ok(())
}

fn texts(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}
