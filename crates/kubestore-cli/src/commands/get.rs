//! `kubestore get`.

use std::io::{self, Write};

use anyhow::{Context, Result};
use kubestore::{
    Storage,
    codec::Unstructured,
    core::{GetOptions, ListOptions, ResourceVersionMatch},
};

use super::{
    read::{self, Listed, Unread},
    watch,
};
use crate::{
    args::GetArgs,
    failure::{AlreadyTold, Usage},
    output::{ListMeta, Printer, Style},
    resources::{Resource, Target, targets},
    session::Session,
};

pub(super) async fn run(session: &mut Session, args: &GetArgs) -> Result<()> {
    let targets = targets(&args.targets, &mut session.catalog).await?;
    check(args, &targets)?;
    let names: usize = targets.iter().map(|target| target.names.len()).sum();
    let mut printer = Printer::new(Style {
        single: names == 1,
        prefixed: targets.len() > 1,
        events: args.output_watch_events,
        ..Style::new(&args.output, args.select.all_namespaces)
    });
    if args.watch {
        let [target] = targets.as_slice() else {
            return Err(Usage::new("--watch takes one resource at a time").into());
        };
        return watch_after_list(session, args, target, &mut printer).await;
    }
    let mut meta = None;
    let mut missing = 0;
    let mut unread = Unread::default();
    for target in &targets {
        if target.names.is_empty() {
            let one = list(session, args, &target.resource, &mut printer).await?;
            unread.append(one.unread);
            // A list of several resources has no resource version of its own.
            meta = Some(if meta.is_none() { one.meta } else { ListMeta::default() });
        } else {
            missing += get(session, args, target, &mut printer).await?;
        }
    }
    let meta = meta.unwrap_or_default();
    let is_nothing = printer.count() == 0 && (!unread.is_empty() || missing > 0 && printer.style().single);
    if !is_nothing {
        printer.finish(&meta)?;
    }
    if unread.is_empty() {
        tell_empty(session, args, &printer, names)?;
    }
    tell_more(&meta)?;
    unread.tell()?;
    if missing > 0 { Err(AlreadyTold.into()) } else { Ok(()) }
}

/// Refuses what does not go together.
fn check(args: &GetArgs, targets: &[Target]) -> Result<()> {
    let is_named = targets.iter().any(|target| !target.names.is_empty());
    let pages = args.listing.limit.is_some() || !args.listing.continue_token.is_empty();
    let refusal = if is_named && args.select.all_namespaces {
        "a name is looked up in one namespace; leave out --all-namespaces"
    } else if is_named && read::has_selector(&args.select) {
        "names and selectors do not go together; leave one out"
    } else if is_named && pages {
        "names and pages do not go together; leave out --limit and --continue"
    } else if targets.len() > 1 && pages {
        "pages are of one resource; leave out --limit and --continue, or all resources but one"
    } else if args.watch && pages {
        "pages cannot be watched; leave out --limit and --continue"
    } else {
        return Ok(());
    };
    Err(Usage::new(refusal).into())
}

async fn list(
    session: &Session,
    args: &GetArgs,
    resource: &Resource,
    printer: &mut Printer,
) -> Result<Listed> {
    let options = read::list_options(&args.listing, read::predicate(&args.select, resource)?);
    read::list(session, resource, args.select.all_namespaces, options, |object| {
        Ok(printer.object(resource, &object)?)
    })
    .await
}

/// Shows objects by name, and says which are missing; returns how many.
async fn get(session: &Session, args: &GetArgs, target: &Target, printer: &mut Printer) -> Result<usize> {
    let mut missing = 0;
    for name in &target.names {
        match get_one(session, args, &target.resource, name).await? {
            Some(object) => printer.object(&target.resource, &object)?,
            None if args.ignore_not_found => {}
            None => {
                missing += 1;
                tell_missing(&target.resource, session.namespace(), name)?;
            }
        }
    }
    Ok(missing)
}

async fn get_one(
    session: &Session,
    args: &GetArgs,
    resource: &Resource,
    name: &str,
) -> Result<Option<Unstructured>> {
    let store = session.store(resource);
    let key = resource.key(session.namespace(), name)?;
    let version = read::version(&args.listing);
    let what = || resource.object_name(name);
    match read::version_match(&args.listing) {
        // Only a list reads the past.
        exact @ ResourceVersionMatch::Exact => {
            let options = ListOptions::default().with_resource_version(version, exact);
            let list = store.get_list(&key, options).await.with_context(what)?;
            Ok(list.items.into_iter().next())
        }
        _ => {
            let options = GetOptions::default().ignore_not_found().with_resource_version(version);
            store.get(&key, options).await.with_context(what)
        }
    }
}

async fn watch_after_list(
    session: &Session,
    args: &GetArgs,
    target: &Target,
    printer: &mut Printer,
) -> Result<()> {
    let resource = &target.resource;
    let added = |printer: &mut Printer, object: &Unstructured| match printer.style() {
        style if style.events || !style.format.is_table() => printer.event(resource, "ADDED", object),
        _ => printer.object(resource, object),
    };
    let start = match target.names.as_slice() {
        [] => {
            let options = read::list_options(&args.listing, read::predicate(&args.select, resource)?);
            let all = args.select.all_namespaces;
            let listed =
                read::list(session, resource, all, options, |object| Ok(added(printer, &object)?)).await?;
            // A watch begins where a list ended, and this one has not come to its end.
            listed.unread.tell()?;
            listed.meta.resource_version
        }
        [name] => match get_one(session, args, resource, name).await? {
            Some(object) => {
                added(printer, &object)?;
                object.resource_version().to_owned()
            }
            None => {
                tell_missing(resource, session.namespace(), name)?;
                return Err(AlreadyTold.into());
            }
        },
        _ => return Err(Usage::new("--watch takes one name, or none").into()),
    };
    printer.flush()?;
    let name = target.names.first().map(String::as_str);
    let from = watch::From::Version(start);
    watch::show(session, &args.select, resource, name, from, printer).await
}

/// Says that there is no such object.
pub(super) fn tell_missing(resource: &Resource, namespace: &str, name: &str) -> io::Result<()> {
    let place = resource.place(namespace);
    writeln!(io::stderr(), "error: {} {name:?} not found{place}", resource.full_name())
}

fn tell_empty(session: &Session, args: &GetArgs, printer: &Printer, names: usize) -> io::Result<()> {
    if printer.count() > 0 || names > 0 || !printer.style().format.is_table() {
        return Ok(());
    }
    match session.listed_namespace(args.select.all_namespaces) {
        Some(namespace) => writeln!(io::stderr(), "No resources found in {namespace} namespace."),
        None => writeln!(io::stderr(), "No resources found"),
    }
}

/// How to get the rest of a list.
fn tell_more(meta: &ListMeta) -> io::Result<()> {
    match &meta.continue_token {
        Some(token) => writeln!(io::stderr(), "{}", more(meta, token)),
        None => Ok(()),
    }
}

/// `more to come (7): --continue TOKEN`.
pub(super) fn more(meta: &ListMeta, token: &str) -> String {
    let count = meta.remaining.map_or_else(String::new, |remaining| format!(" ({remaining})"));
    format!("There is more{count}; go on with: --continue {token}")
}
