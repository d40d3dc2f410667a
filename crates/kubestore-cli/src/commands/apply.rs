//! `kubestore apply`.

use std::{
    collections::HashSet,
    io::{self, Write},
};

use anyhow::{Context, Result, bail};
use kubestore::{
    Storage, StorageError,
    codec::Unstructured,
    core::{ResponseMeta, UpdateOptions, Updated},
};

use super::{
    many, merge,
    plan::{Planned, plan},
};
use crate::{
    args::ApplyArgs,
    input::Document,
    output::{ListMeta, Printer, Style},
    session::Session,
};

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Created,
    Configured,
    Unchanged,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
        }
    }
}

pub(super) async fn run(session: &mut Session, args: &ApplyArgs, documents: Vec<Document>) -> Result<()> {
    let mut planned = plan(documents, session).await?;
    for one in &mut planned {
        // As it will be read back, so that nothing differs from what is stored that is not different.
        let normal = session.codec.normal(&one.object);
        one.object =
            normal.with_context(|| format!("{}: {}", one.origin, one.resource.object_name(&one.name)))?;
    }
    let mut printer = args.output.map(|format| {
        Printer::new(Style { namespaces: true, single: planned.len() == 1, ..Style::plain(format) })
    });
    let keys: HashSet<&str> = planned.iter().map(|one| one.key.as_str()).collect();
    // Of two documents of one object the later one counts.
    let one_by_one = keys.len() < planned.len();
    let session = &*session;
    let applied = many::each(
        planned,
        one_by_one,
        async |one| {
            let place = || format!("{}: {}", one.origin, one.resource.object_name(&one.name));
            apply(one, session, args.replace_status).await.with_context(place)
        },
        |one, (outcome, object)| {
            match &mut printer {
                Some(printer) => printer.object(&one.resource, &object)?,
                None => writeln!(io::stdout(), "{} {}", one.resource.object_name(&one.name), outcome.word())?,
            }
            Ok(())
        },
    )
    .await;
    if let Some(printer) = printer.as_mut().filter(|printer| printer.count() > 0) {
        printer.finish(&ListMeta::default())?;
    }
    applied
}

async fn apply(
    planned: &Planned,
    session: &Session,
    replace_status: bool,
) -> Result<(Outcome, Unstructured)> {
    let store = session.store(&planned.resource);
    let wanted = &planned.object;
    let new = merge::created(wanted, &planned.resource)?;
    let mut outcome = Outcome::Unchanged;
    let mut refusal = None;
    let mut update = |current: Option<Unstructured>, _: ResponseMeta| {
        let Some(current) = current else {
            outcome = Outcome::Created;
            return Ok(Updated::new(new.clone()));
        };
        if let Err(error) = check_same(wanted, &current) {
            let told = StorageError::other(error.to_string());
            refusal = Some(error);
            return Err(told);
        }
        let object = merge::replaced(wanted, &current, replace_status);
        outcome = if object == current { Outcome::Unchanged } else { Outcome::Configured };
        Ok(Updated::new(object))
    };
    let options = UpdateOptions::default().ignore_not_found();
    let updated = store.guaranteed_update(&planned.key, options, &mut update, None).await;
    match (updated, refusal) {
        (Ok(object), _) => Ok((outcome, object)),
        (Err(_), Some(refusal)) => Err(refusal),
        (Err(error), None) => Err(error.into()),
    }
}

/// A file that names a resource version or a UID means that object and no other.
fn check_same(wanted: &Unstructured, current: &Unstructured) -> Result<()> {
    let version = wanted.resource_version();
    if !version.is_empty() && version != current.resource_version() {
        bail!(
            "the object was changed since the file was made (resource version {version}, now {}); get it again, or take \
             metadata.resourceVersion out of the file",
            current.resource_version()
        );
    }
    let uid = wanted.uid();
    if !uid.is_empty() && uid != current.uid() {
        bail!(
            "the file is of another object of this name (UID {uid}, here {}); take metadata.uid out of the file",
            current.uid()
        );
    }
    Ok(())
}
