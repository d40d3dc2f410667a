//! Keys of a configuration that are tried although nothing says that they fit.

use bytes::Bytes;
use kubestore_transform::{
    EncryptionConfig, EnvelopeHeader, Provider, ProviderChain, ResourceRule, ValueContext,
};

use crate::{OtherKey, rules};

/// All keys of a configuration, whatever they are for.
#[derive(Debug)]
pub(super) struct OtherKeys<'c> {
    config: &'c EncryptionConfig,
}

impl<'c> OtherKeys<'c> {
    pub(super) fn of(config: &'c EncryptionConfig) -> Self {
        Self { config }
    }

    /// The first key with which the value opens if the name in its envelope is not believed.
    pub(super) async fn that_opens(&self, key: &[u8], value: &Bytes) -> Option<OtherKey> {
        let header = EnvelopeHeader::parse(value)?;
        let front = format!("k8s:enc:{}:{}:", header.provider, header.version);
        let sealed = value.slice(front.len() + header.key_name?.len() + 1..);
        for rule in self.config.rules() {
            for provider in rule.providers().iter().filter(|provider| provider.prefix() == front) {
                for name in provider.key_names() {
                    let renamed = Bytes::from([front.as_bytes(), name.as_bytes(), b":", &sealed].concat());
                    if opens(provider, key, renamed).await {
                        return Some(other_key(rule, provider, name));
                    }
                }
            }
        }
        None
    }
}

async fn opens(provider: &Provider, key: &[u8], value: Bytes) -> bool {
    let Ok(chain) = ProviderChain::new([provider.clone()]) else { return false };
    rules::open(&chain, value, ValueContext::new(key)).await.is_ok()
}

fn other_key(rule: &ResourceRule, provider: &Provider, name: &str) -> OtherKey {
    OtherKey {
        provider: provider.name().to_owned(),
        key_name: name.to_owned(),
        resources: rule.resources().iter().map(ToString::to_string).collect(),
    }
}
