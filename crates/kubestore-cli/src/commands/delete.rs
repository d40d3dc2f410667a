//! `kubestore delete`.

use std::{
    io::{self, Write},
    sync::Arc,
};

use anyhow::{Context, Result};
use async_trait::async_trait;
use kubestore::{
    Storage, StorageError,
    codec::{Unstructured, Value},
    core::{DeleteOptions, ListOptions, Preconditions, ValidateDeletion},
};

use super::{
    corrupt,
    get::tell_missing,
    many,
    plan::{Planned, plan},
    read,
};
use crate::{
    args::DeleteArgs,
    failure::{AlreadyTold, Usage},
    input::Document,
    resources::{Resource, Target, targets},
    session::Session,
};

/// One object to delete.
struct Doomed {
    resource: Arc<Resource>,
    namespace: String,
    name: String,
    /// Of the object that was seen; "" when only its name was given.
    uid: String,
}

impl From<Planned> for Doomed {
    fn from(planned: Planned) -> Self {
        let Planned { resource, namespace, name, .. } = planned;
        Self { resource, namespace, name, uid: String::new() }
    }
}

pub(super) async fn run(session: &mut Session, args: &DeleteArgs, documents: Vec<Document>) -> Result<()> {
    let mut missing = 0;
    let doomed: Vec<Doomed> = if args.files.is_empty() {
        let targets = targets(&args.targets, &mut session.catalog).await?;
        check(args, &targets)?;
        selected(session, args, targets).await?
    } else {
        plan(documents, session).await?.into_iter().map(Doomed::from).collect()
    };
    let is_empty = doomed.is_empty();
    let session = &*session;
    let names_only = args.output.is_some();
    many::each(
        doomed,
        false,
        async |one| {
            let deleted = if args.only_if_corrupt {
                corrupt::delete(session, &one.resource, &one.namespace, &one.name, args.force).await
            } else {
                delete(session, one, args.force).await
            };
            deleted.with_context(|| one.resource.object_name(&one.name))
        },
        |one, was_there| {
            if was_there {
                writeln!(io::stdout(), "{}", deleted(one, names_only))?;
            } else if one.uid.is_empty() && !args.ignore_not_found {
                missing += 1;
                tell_missing(&one.resource, &one.namespace, &one.name)?;
            }
            Ok(())
        },
    )
    .await?;
    if is_empty && !names_only {
        writeln!(io::stderr(), "No resources found")?;
    }
    if missing > 0 { Err(AlreadyTold.into()) } else { Ok(()) }
}

/// The line about an object that is gone.
fn deleted(one: &Doomed, name_only: bool) -> String {
    let name = one.resource.object_name(&one.name);
    match name.split_once('/') {
        Some((kind, _)) if !name_only => format!("{kind} {:?} deleted", one.name),
        _ => name,
    }
}

/// Refuses what does not go together, above all to delete everything by leaving something out.
fn check(args: &DeleteArgs, targets: &[Target]) -> Result<()> {
    let is_named = targets.iter().any(|target| !target.names.is_empty());
    let selects = read::has_selector(&args.select);
    let refusal = if !is_named && !selects && !args.all {
        "say which: give names, a selector, or --all for all of the namespace"
    } else if is_named && (selects || args.all) {
        "names do not go together with selectors and --all; leave one out"
    } else if is_named && args.select.all_namespaces {
        "a name is looked up in one namespace; leave out --all-namespaces"
    } else {
        return Ok(());
    };
    Err(Usage::new(refusal).into())
}

/// The objects that are named or selected.
async fn selected(session: &Session, args: &DeleteArgs, targets: Vec<Target>) -> Result<Vec<Doomed>> {
    let mut doomed = Vec::new();
    for Target { resource, names } in targets {
        if names.is_empty() {
            let options = ListOptions::recursive().with_predicate(read::predicate(&args.select, &resource)?);
            read::list(session, &resource, args.select.all_namespaces, options, |object| {
                doomed.push(Doomed {
                    resource: Arc::clone(&resource),
                    namespace: object.namespace().to_owned(),
                    name: object.name().to_owned(),
                    uid: object.uid().to_owned(),
                });
                Ok(())
            })
            .await?
            .unread
            .tell()
            .inspect_err(|_| tell_unread())?;
        } else {
            let namespace = session.namespace();
            doomed.extend(names.into_iter().map(|name| Doomed {
                resource: Arc::clone(&resource),
                namespace: namespace.to_owned(),
                name,
                uid: String::new(),
            }));
        }
    }
    Ok(doomed)
}

/// What cannot be read may be selected, too.
fn tell_unread() {
    let hint = "error: nothing was deleted, since it is not known whether these are selected; restore them, or delete them by \
                name with --only-if-corrupt";
    // The exit code says that something is wrong if nobody reads this.
    let _told = writeln!(io::stderr(), "{hint}");
}

/// Deletes an object; false when there is none.
async fn delete(session: &Session, doomed: &Doomed, force: bool) -> Result<bool> {
    let key = doomed.resource.key(&doomed.namespace, &doomed.name)?;
    let options = match doomed.uid.as_str() {
        "" => DeleteOptions::default(),
        uid => DeleteOptions::default().with_preconditions(Preconditions::uid(uid)),
    };
    let mut guard = Guard { force, refusal: None };
    let deleted = session.store(&doomed.resource).delete(&key, options, &mut guard, None).await;
    match (deleted, guard.refusal) {
        (Ok(_), _) => Ok(true),
        (Err(error), _) if error.is_not_found() => Ok(false),
        (Err(_), Some(finalizers)) => anyhow::bail!(
            "the object has finalizers ({finalizers}), whose owners would not be asked; delete it all the same with --force"
        ),
        (Err(error), None) => Err(error.into()),
    }
}

/// Keeps objects that somebody wants to clean up after.
struct Guard {
    force: bool,
    refusal: Option<String>,
}

#[async_trait]
impl ValidateDeletion<Unstructured> for Guard {
    async fn validate(&mut self, current: &Unstructured) -> Result<(), StorageError> {
        let finalizers = current.pointer("/metadata/finalizers").and_then(Value::as_array);
        let names: Vec<_> = finalizers.into_iter().flatten().filter_map(Value::as_str).collect();
        if self.force || names.is_empty() {
            self.refusal = None;
            return Ok(());
        }
        self.refusal = Some(names.join(", "));
        Err(StorageError::other("the object has finalizers"))
    }
}
