//! What reading commands share: selections, and lists that are shown as they come.

use anyhow::Result;
use futures_util::StreamExt;
use kubestore::{
    Storage,
    codec::Unstructured,
    core::{LabelSelector, ListOptions, ListPart, Predicate, ResourceVersionMatch},
};

use crate::{
    args::{ListingArgs, SelectArgs},
    failure::Usage,
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

/// Lists a resource, and gives each object to `show` as it comes.
pub(super) async fn list(
    session: &Session,
    resource: &Resource,
    all_namespaces: bool,
    options: ListOptions,
    mut show: impl FnMut(Unstructured) -> Result<()>,
) -> Result<ListMeta> {
    let store = session.store(resource);
    let key = resource.list_key(session.listed_namespace(all_namespaces))?;
    let mut parts = store.list_stream(&key, options);
    let mut meta = None;
    while let Some(part) = parts.next().await {
        match part? {
            ListPart::Items(items) => items.into_iter().try_for_each(&mut show)?,
            ListPart::End { resource_version, continue_token, remaining_item_count } => {
                meta = Some(ListMeta {
                    resource_version: resource_version.to_string(),
                    continue_token,
                    remaining: remaining_item_count,
                });
            }
            _ => {}
        }
    }
    meta.ok_or_else(|| anyhow::anyhow!("the list of {} was cut short; try again", resource.full_name()))
}
