//! `kubestore watch`.

use anyhow::{Context, Result};
use futures_util::StreamExt;
use kubestore::{
    Storage,
    core::{WatchEvent, WatchOptions},
};
use tokio::signal;

use super::read;
use crate::{
    args::{SelectArgs, WatchArgs},
    failure::Usage,
    output::{Printer, Style},
    resources::{Resource, targets},
    session::Session,
};

/// Where a watch begins.
pub(super) enum From {
    /// With what exists.
    Everything,
    /// Now.
    Now,
    /// After this resource version.
    Version(String),
}

pub(super) async fn run(session: &mut Session, args: &WatchArgs) -> Result<()> {
    let targets = targets(&args.targets, &mut session.catalog).await?;
    let (resource, name) = match targets.as_slice() {
        [target] => match target.names.as_slice() {
            [] => (&target.resource, None),
            [name] => (&target.resource, Some(name.as_str())),
            _ => return Err(Usage::new("a watch is of one object, or of all of a resource").into()),
        },
        _ => return Err(Usage::new("a watch is of one resource at a time").into()),
    };
    if name.is_some() && args.select.all_namespaces {
        return Err(Usage::new("a name is looked up in one namespace; leave out --all-namespaces").into());
    }
    let from = match args.resource_version {
        Some(version) => From::Version(version.to_string()),
        None if args.initial_events => From::Everything,
        None => From::Now,
    };
    let style = Style { events: true, ..Style::new(&args.output, args.select.all_namespaces) };
    show(session, &args.select, resource, name, from, &mut Printer::new(style)).await
}

/// Shows changes until the watch ends or the user interrupts it.
pub(super) async fn show(
    session: &Session,
    select: &SelectArgs,
    resource: &Resource,
    name: Option<&str>,
    from: From,
    printer: &mut Printer,
) -> Result<()> {
    let store = session.store(resource);
    let (key, options) = match name {
        Some(name) => (resource.key(session.namespace(), name)?, WatchOptions::default()),
        None => {
            let namespace = session.listed_namespace(select.all_namespaces);
            (resource.list_key(namespace)?, WatchOptions::recursive())
        }
    };
    let version = match from {
        From::Everything => String::new(),
        From::Now => store.current_resource_version().await?.to_string(),
        From::Version(version) => version,
    };
    let options = options.with_resource_version(version).with_predicate(read::predicate(select, resource)?);
    let mut events = store.watch(&key, options).await?;
    let interrupted = interruption();
    tokio::pin!(interrupted);
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            result = &mut interrupted => return result,
        };
        let Some(event) = event else {
            anyhow::bail!("the watch of {} ended; start it again", resource.full_name());
        };
        let event = event.with_context(|| format!("watch of {}", resource.full_name()))?;
        let kind = event.event_type();
        if let WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) = event
        {
            printer.event(resource, kind, &object)?;
        }
    }
}

/// Ends when the user, or whoever started the command, wants it to end.
async fn interruption() -> Result<()> {
    let mut terminated = signal::unix::signal(signal::unix::SignalKind::terminate())?;
    tokio::select! {
        result = signal::ctrl_c() => result?,
        _ = terminated.recv() => {}
    }
    Ok(())
}
