//! Which rule of an encryption configuration applies to a key.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use kubestore_transform::{
    EncryptionConfig, EnvelopeHeader, Identity, Opened, Provider, ResourceRule, Transformer, ValueContext,
};

use crate::{
    PlainEncoding, ResourceId,
    failure::{FailureCause, Problem},
    key_map::Owner,
};

/// The transformers of a configuration by resource.
#[derive(Debug)]
pub(crate) struct Rules<'c> {
    config: &'c EncryptionConfig,
    made: HashMap<Owner, Option<Arc<dyn Transformer>>>,
}

impl<'c> Rules<'c> {
    pub(crate) fn new(config: &'c EncryptionConfig) -> Self {
        Self { config, made: HashMap::new() }
    }

    /// None if it cannot be told which rule applies.
    pub(crate) fn transformer(&mut self, owner: &Owner) -> Option<Arc<dyn Transformer>> {
        if let Some(made) = self.made.get(owner) {
            return made.clone();
        }
        let made = self.make(owner);
        self.made.insert(owner.clone(), made.clone());
        made
    }

    fn make(&self, owner: &Owner) -> Option<Arc<dyn Transformer>> {
        if owner.internal {
            return Some(Arc::new(Identity));
        }
        let (group, resource) = self.names(&owner.id)?;
        Some(self.config.transformer_for(group, resource))
    }

    /// The providers of a resource, the writing one first; none if it cannot be told which rule applies. Nothing but
    /// identity is an empty list.
    pub(crate) fn providers(&self, owner: &Owner) -> Option<Vec<&'c Provider>> {
        if owner.internal {
            return Some(Vec::new());
        }
        let (group, resource) = self.names(&owner.id)?;
        Some(self.config.providers_for(group, resource))
    }

    /// What to ask the configuration for.
    fn names<'a>(&self, id: &'a ResourceId) -> Option<(&'a str, &'a str)> {
        match id {
            ResourceId::Known(known) => Some((&known.group, &known.resource)),
            // Only a rule for everything is certain to be meant, and only if no other may be.
            ResourceId::Path(path) => {
                let patterns = self.config.rules().iter().flat_map(ResourceRule::resources);
                let mut others = patterns.filter(|pattern| !pattern.is_everything());
                let may_be_meant = others.any(|other| other.resource == "*" || other.resource == *path);
                (!may_be_meant).then_some(("*", "*"))
            }
        }
    }
}

/// Opens a value as an API server would, but believes AES-CBC only what an API server can have written: it has no
/// authentication, and another secret gives nonsense without an error one time in 256.
pub(crate) async fn open(
    transformer: &dyn Transformer,
    stored: Bytes,
    context: ValueContext<'_>,
) -> Result<Opened, Problem> {
    // The bytes are given away, so that they can be opened in place.
    let unauthenticated = EnvelopeHeader::parse(&stored)
        .filter(|header| header.provider == "aescbc")
        .map(|header| header.key_name.unwrap_or_default().to_owned());
    let opened = transformer.transform_from_storage(stored, context).await?;
    match unauthenticated {
        Some(key_name) if PlainEncoding::of(&opened.data) == PlainEncoding::Unknown => {
            let header = format!("k8s:enc:aescbc:v1:{key_name}:");
            let message = format!(
                "provider aescbc, key {key_name:?}: what was decrypted is not an object (wrong secret under this \
                 name, or damaged); configure the secret that the value was written with, or restore the value"
            );
            Err(Problem::new(FailureCause::NotAnObject, message)
                .found_in(EnvelopeHeader::parse(header.as_bytes())))
        }
        _ => Ok(opened),
    }
}

/// Why nothing is done with a key whose rule is not known.
pub(crate) fn undecided(id: &ResourceId) -> Problem {
    Problem::new(
        FailureCause::UnknownResource,
        format!(
            "the group of {id} cannot be told from its keys, and so not which rule applies; use a version that knows \
             the resource, or leave it out"
        ),
    )
}
