//! Opening stored values, whosever they are.

use std::sync::Arc;

use bytes::Bytes;
use kubestore::{
    codec::{Location, ResourceTable, Unstructured},
    core::{Codec as _, CodecError},
    transform::{
        EncryptionConfig, Identity, Opened, ProviderChain, TransformError, Transformer, ValueContext,
    },
};

use super::ObjectCodec;

/// Opens and decodes values by the key that they are under.
#[derive(Clone, Debug)]
pub(crate) struct Opener {
    prefix: String,
    encryption: Option<EncryptionConfig>,
    codec: ObjectCodec,
}

impl Opener {
    pub(crate) fn new(prefix: &str, encryption: Option<EncryptionConfig>, codec: ObjectCodec) -> Self {
        Self { prefix: prefix.to_owned(), encryption, codec }
    }

    /// Whether there is a configuration to open values with.
    pub(crate) fn has_keys(&self) -> bool {
        self.encryption.is_some()
    }

    /// The object in a value that was opened.
    ///
    /// # Errors
    /// The value is not an object that can be read.
    pub(crate) fn decode(&self, plain: Bytes) -> Result<Unstructured, CodecError> {
        self.codec.decode(plain)
    }

    /// What is inside.
    ///
    /// # Errors
    /// The configuration has no key for it, or the value is damaged.
    pub(crate) async fn open(&self, key: &[u8], stored: Bytes) -> Result<Opened, TransformError> {
        self.transformer(key).transform_from_storage(stored, ValueContext::new(key)).await
    }

    fn transformer(&self, key: &[u8]) -> Arc<dyn Transformer> {
        let Some(config) = &self.encryption else { return Arc::new(Identity) };
        match std::str::from_utf8(key).ok().and_then(|key| locate(&self.prefix, key)) {
            // API servers keep their own records plain.
            Some(Location { resource: Some(resource), .. }) if resource.is_internal() => Arc::new(Identity),
            Some(Location { resource: None, group_resource, .. }) if group_resource.group.is_empty() => {
                of_any_group(config, &group_resource.resource)
            }
            Some(Location { group_resource, .. }) => {
                config.transformer_for(&group_resource.group, &group_resource.resource)
            }
            None => config.transformer_for("*", "*"),
        }
    }
}

/// What a key stands for; the leading slash of the prefix may be missing.
pub(crate) fn locate(prefix: &str, key: &str) -> Option<Location> {
    ResourceTable::builtin().locate(prefix, key)
}

/// The transformer of a resource whose group is not in its keys: by the rules that name it in whatever group, or else by that
/// for everything.
fn of_any_group(config: &EncryptionConfig, resource: &str) -> Arc<dyn Transformer> {
    let is_named = |rule: &&kubestore::transform::ResourceRule| {
        rule.resources().iter().any(|pattern| pattern.resource == resource)
    };
    let providers = config.rules().iter().filter(is_named).flat_map(|rule| rule.providers().iter().cloned());
    match ProviderChain::new(providers) {
        Ok(chain) => Arc::new(chain),
        Err(_) => config.transformer_for("*", "*"),
    }
}
