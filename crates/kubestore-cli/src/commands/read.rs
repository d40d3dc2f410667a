//! What reading commands share: selections, and lists that are shown as they come.

use std::io::{self, Write};

use anyhow::Result;
use futures_util::StreamExt;
use kubestore::{
    Storage, StorageError,
    codec::Unstructured,
    core::{CorruptObjects, LabelSelector, ListOptions, ListPart, Predicate, ResourceVersionMatch},
};

use crate::{
    args::{ListingArgs, SelectArgs},
    failure::{self, AlreadyTold, Usage},
    output::ListMeta,
    resources::{Resource, check_fields},
    session::Session,
};

/// The selectors on the command line, as far as this resource has such fields.
pub(super) fn predicate(select: &SelectArgs, resource: &Resource) -> Result<Predicate> {
    let labels: LabelSelector =
        select.selector.parse().map_err(|error| Usage::new(format!("--selector: {error}")))?;
    Ok(Predicate::new(labels, check_fields(&select.field_selector, resource)?))
}

/// Whether the command line has selectors.
pub(super) fn has_selector(select: &SelectArgs) -> bool {
    !select.selector.is_empty() || !select.field_selector.is_empty()
}

/// The resource version on the command line, "" if there is none.
pub(super) fn version(listing: &ListingArgs) -> String {
    listing.resource_version.map_or_else(String::new, |version| version.to_string())
}

/// How the resource version is meant, by the command line.
pub(super) fn version_match(listing: &ListingArgs) -> ResourceVersionMatch {
    listing.resource_version_match.as_deref().unwrap_or_default().into()
}

/// The options of a list, by the command line.
pub(super) fn list_options(listing: &ListingArgs, predicate: Predicate) -> ListOptions {
    ListOptions::recursive()
        .with_predicate(predicate)
        .with_limit(listing.limit.unwrap_or(0))
        .with_continue_token(listing.continue_token.as_str())
        .with_resource_version(version(listing), version_match(listing))
}

/// A list that came to its end.
pub(super) struct Listed {
    pub(super) meta: ListMeta,
    /// What could not be read of it.
    pub(super) unread: Unread,
}

/// What could not be read.
#[derive(Debug, Default)]
pub(super) struct Unread(Vec<StorageError>);

impl Unread {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Names each object on standard error, after everything that could be shown.
    ///
    /// # Errors
    /// [`AlreadyTold`] if there is anything to tell.
    pub(super) fn tell(self) -> Result<()> {
        let mut stderr = io::stderr().lock();
        let is_whole = self.is_empty();
        for error in self.0 {
            let objects = error.corrupt_objects();
            for (one, key) in objects.iter().flat_map(|objects| objects.errors()).map(|one| (one, one.key()))
            {
                let key = key.unwrap_or_default().escape_debug();
                writeln!(stderr, "error: {key}: {}", failure::causes(one))?;
            }
            if objects.is_some_and(CorruptObjects::is_truncated) {
                writeln!(
                    stderr,
                    "error: there are more; the list ended here. `kubestore check` names them all"
                )?;
            }
        }
        if is_whole { Ok(()) } else { Err(AlreadyTold.into()) }
    }
}

/// Lists a resource, and gives each object to `show` as it comes. Goes on past objects that cannot be read.
pub(super) async fn list(
    session: &Session,
    resource: &Resource,
    all_namespaces: bool,
    options: ListOptions,
    mut show: impl FnMut(Unstructured) -> Result<()>,
) -> Result<Listed> {
    let store = session.store(resource);
    let key = resource.list_key(session.listed_namespace(all_namespaces))?;
    let mut parts = store.list_stream(&key, options.past_corrupt_objects());
    let (mut meta, mut unread) = (None, Unread::default());
    while let Some(part) = parts.next().await {
        match part {
            Ok(ListPart::Items(items)) => items.into_iter().try_for_each(&mut show)?,
            Ok(ListPart::End { resource_version, continue_token, remaining_item_count }) => {
                meta = Some(ListMeta {
                    resource_version: resource_version.to_string(),
                    continue_token,
                    remaining: remaining_item_count,
                });
            }
            Ok(_) => {}
            Err(error) if is_of_objects(&error) => {
                // Its revision is not known: such a list has no end.
                meta = Some(ListMeta::default());
                unread.0.push(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    match meta {
        Some(meta) => Ok(Listed { meta, unread }),
        None => Err(anyhow::anyhow!("the list of {} was cut short; try again", resource.full_name())),
    }
}

/// Whether it is objects that could not be read, and nothing else went wrong.
fn is_of_objects(error: &StorageError) -> bool {
    error.corrupt_objects().is_some_and(|objects| objects.ended_by().is_none())
}
