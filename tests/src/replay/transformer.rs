//! The transformers that Kubernetes builds from the encryption configuration of a scenario.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kubestore_transform::{Identity, Key, Provider, ProviderChain, Transformer};

use crate::recording::{KeyConfig, ProviderConfig, TransformerConfig};

/// The transformer of a scenario.
pub(crate) fn transformer(config: &TransformerConfig) -> Result<Arc<dyn Transformer>> {
    let providers = match config {
        TransformerConfig::Named(name) if name == "identity" => return Ok(Arc::new(Identity)),
        TransformerConfig::Named(name) => bail!("unknown transformer {name:?}"),
        TransformerConfig::Several { providers: configs } => {
            configs.iter().map(providers).collect::<Result<Vec<_>>>()?.concat()
        }
        TransformerConfig::One(config) => {
            let mut list = providers(config)?;
            if config.identity_fallback {
                list.push(Provider::identity());
            }
            list
        }
    };
    Ok(Arc::new(ProviderChain::new(providers)?))
}

fn providers(config: &ProviderConfig) -> Result<Vec<Provider>> {
    let mut list = Vec::new();
    if let Some(configs) = &config.aesgcm {
        list.push(Provider::aes_gcm(keys(configs)?)?);
    }
    if let Some(configs) = &config.aescbc {
        list.push(Provider::aes_cbc(keys(configs)?)?);
    }
    if let Some(configs) = &config.secretbox {
        list.push(Provider::secretbox(keys(configs)?)?);
    }
    if config.identity {
        list.push(Provider::identity());
    }
    Ok(list)
}

fn keys(configs: &[KeyConfig]) -> Result<Vec<Key>> {
    configs
        .iter()
        .map(|config| {
            let secret = STANDARD.decode(&config.secret).with_context(|| format!("key {:?}", config.name))?;
            Ok(Key::new(config.name.clone(), secret)?)
        })
        .collect()
}
