//! What a command line names: resources, and objects in them.

use std::sync::Arc;

use anyhow::Result;

use super::{Catalog, Resource, check_name};
use crate::failure::Usage;

/// A resource, and those of its objects that are meant.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) resource: Arc<Resource>,
    /// None: all of them.
    pub(crate) names: Vec<String>,
}

/// Reads `RESOURCE[,RESOURCE…] [NAME…]` or `RESOURCE/NAME…`.
///
/// # Errors
/// A mixture of both, an unknown resource, a name that cannot be one.
pub(crate) async fn targets(words: &[String], catalog: &mut Catalog) -> Result<Vec<Target>> {
    let Some((first, names)) = words.split_first() else {
        return Err(Usage::new("name a resource, such as pods").into());
    };
    let with_slash = words.iter().filter(|word| word.contains('/')).count();
    if with_slash == words.len() {
        return named(words, catalog).await;
    }
    if with_slash > 0 {
        let message =
            format!("{} mixes RESOURCE/NAME with names; write `pod/a pod/b` or `pods a b`", words.join(" "));
        return Err(Usage::new(message).into());
    }
    if !names.is_empty() && first.contains(',') {
        return Err(Usage::new("names stand after one resource only; write `pod/a secret/a`").into());
    }
    let mut targets = Vec::new();
    for word in first.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let category = catalog.category(&word.to_lowercase());
        if !category.is_empty() && names.is_empty() {
            targets.extend(category.into_iter().map(|resource| Target { resource, names: Vec::new() }));
            continue;
        }
        let resource = catalog.by_name(word).await?;
        names.iter().try_for_each(|name| check_name(&resource, name))?;
        targets.push(Target { resource, names: names.to_vec() });
    }
    if targets.is_empty() {
        return Err(Usage::new("name a resource, such as pods").into());
    }
    Ok(targets)
}

/// Objects of one resource after another, those of the same together.
async fn named(words: &[String], catalog: &mut Catalog) -> Result<Vec<Target>> {
    let mut targets: Vec<Target> = Vec::new();
    for word in words {
        let (resource, name) = word.split_once('/').unwrap_or((word, ""));
        let resource = catalog.by_name(resource).await?;
        check_name(&resource, name)?;
        match targets.iter_mut().find(|target| target.resource.full_name() == resource.full_name()) {
            Some(target) => target.names.push(name.to_owned()),
            None => targets.push(Target { resource, names: vec![name.to_owned()] }),
        }
    }
    Ok(targets)
}
