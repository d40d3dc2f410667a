//! `kubestore import`.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use anyhow::{Context, Result};
use bytes::Bytes;
use futures_util::{Stream, stream};
use kubestore_admin::{ImportLeases, ImportOptions, ImportReport, import};
use tokio::sync::mpsc;

use crate::{
    args::{ImportArgs, Leases, ReportFormat},
    commands::{bar::Bar, show},
    failure::AlreadyTold,
    session::Session,
};

/// How much is read at once.
const PIECE: usize = 256 * 1024;

pub(in crate::commands) async fn run(session: &mut Session, args: &ImportArgs) -> Result<()> {
    let input = open(&args.file)?;
    let bar = Bar::new(false);
    let leases = match args.leases {
        Leases::Drop => ImportLeases::Drop,
        Leases::Renew => ImportLeases::Renew,
        Leases::Skip => ImportLeases::Skip,
    };
    let options =
        ImportOptions::default().overwrite(args.overwrite).leases(leases).on_progress(bar.observer());
    let report = import(session.kv(), Box::pin(pieces(input)), &options).await;
    bar.finish();
    let report = report?;
    match args.output {
        ReportFormat::Json => show::json(&report)?,
        ReportFormat::Table => show::line(&line(&report))?,
    }
    show::failures(&report.failures)?;
    tell_skipped(&report)?;
    if report.is_success() { Ok(()) } else { Err(AlreadyTold.into()) }
}

fn line(report: &ImportReport) -> String {
    let ImportReport { seen, created, overwritten, same, left_out, leases_dropped, leases_granted, .. } =
        report;
    let s = if *seen == 1 { "" } else { "s" };
    let mut line =
        format!("{seen} key{s}: {created} created, {overwritten} overwritten, {same} there already");
    for (count, what) in [
        (report.skipped.total, "left alone"),
        (report.failures.total, "failed"),
        (*left_out, "left out for their lease"),
        (*leases_dropped, "without their lease"),
        (*leases_granted, "leases granted"),
    ] {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    line
}

fn tell_skipped(report: &ImportReport) -> Result<()> {
    for key in &report.skipped.first {
        show::note(&format!("error: {}: exists with another value", key.escape_debug()))?;
    }
    let more = report.skipped.total - report.skipped.first.len() as u64;
    if more > 0 {
        show::note(&format!("error: {more} more"))?;
    }
    if report.skipped.total > 0 {
        show::note("error: nothing is overwritten without --overwrite; compare with `kubestore diff` first")?;
    }
    Ok(())
}

fn open(file: &Path) -> Result<Box<dyn Read + Send>> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let opened = File::open(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    Ok(Box::new(opened))
}

/// The input in pieces, read on a thread of its own, since it may be slow and cannot be waited for otherwise.
fn pieces(mut input: Box<dyn Read + Send>) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let (give, take) = mpsc::channel(4);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut piece = vec![0; PIECE];
            let read = match input.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => {
                    piece.truncate(read);
                    Ok(Bytes::from(piece))
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_last = read.is_err();
            if give.blocking_send(read).is_err() || is_last {
                return;
            }
        }
    });
    stream::unfold(take, async |mut take| Some((take.recv().await?, take)))
}
