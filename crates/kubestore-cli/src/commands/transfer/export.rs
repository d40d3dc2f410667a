//! `kubestore export`.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result};
use futures_util::TryStreamExt;
use kubestore::kv::Revision;
use kubestore_admin::{ExportOptions, export};

use crate::{
    args::ExportArgs,
    commands::{bar::Bar, scope, show},
    session::Session,
};

pub(in crate::commands) async fn run(session: &mut Session, args: &ExportArgs) -> Result<()> {
    let scope = scope(session, &args.resources)?;
    let (bar, done) = (Bar::new(false), Arc::new(AtomicU64::new(0)));
    let options = ExportOptions::default().on_progress({
        let (show, done) = (bar.observer(), Arc::clone(&done));
        move |progress| {
            done.store(progress.done, Ordering::Relaxed);
            show(progress);
        }
    });
    let options = match args.resource_version {
        Some(version) => options.at(Revision(version)),
        None => options,
    };
    let mut out = open(&args.file)?;
    let mut lines = pin!(export(session.kv(), scope, &options));
    let written = async {
        while let Some(part) = lines.try_next().await? {
            out.write_all(&part).with_context(|| format!("{}: cannot be written", args.file.display()))?;
        }
        out.flush().with_context(|| format!("{}: cannot be written", args.file.display()))
    };
    let written = written.await;
    bar.finish();
    written?;
    let keys = done.load(Ordering::Relaxed);
    let s = if keys == 1 { "" } else { "s" };
    show::note(&format!("{keys} key{s} exported."))
}

/// A new file that nobody else can read: it may hold secrets.
fn open(file: &Path) -> Result<Box<dyn Write>> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdout()));
    }
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let made = made.with_context(|| match file.exists() {
        true => format!("{}: exists; name another file, or take this one away", file.display()),
        false => format!("{}: cannot be made", file.display()),
    })?;
    Ok(Box::new(made))
}
