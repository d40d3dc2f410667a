//! One scenario file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Step;

/// A scenario: a store over an empty prefix, and what is done to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Scenario {
    /// Its name, also part of the default prefix.
    pub name: String,
    /// What it is about.
    #[serde(default)]
    pub description: String,
    /// How the store is set up.
    #[serde(default)]
    pub config: Config,
    /// What is done, in order.
    pub steps: Vec<Step>,
}

/// How the store of a scenario is set up.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// The store's path prefix; `/registry-<name>` if absent.
    pub prefix: Option<String>,
    /// As in `deployments.apps`; `pods` if absent.
    pub group_resource: Option<String>,
    /// Where the store looks to learn the current revision; `/<resource>` if absent.
    pub resource_prefix: Option<String>,
    /// How values are stored.
    pub transformer: TransformerConfig,
    /// Limits of lease reuse.
    pub lease: Option<LeaseLimits>,
    /// Kubernetes' feature gates by name.
    pub feature_gates: BTreeMap<String, bool>,
    /// The backend has to be new.
    pub fresh_etcd: bool,
}

impl Config {
    /// Whether initial events of watches are turned on.
    #[must_use]
    pub fn watch_list(&self) -> bool {
        self.feature_gates.get("WatchList").copied().unwrap_or_default()
    }
}

/// Limits of lease reuse.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LeaseLimits {
    /// Seconds by which a lease may outlive a TTL.
    pub reuse_seconds: u64,
    /// Objects on one lease.
    pub max_object_count: u64,
}

impl Default for LeaseLimits {
    fn default() -> Self {
        Self { reuse_seconds: 60, max_object_count: 1000 }
    }
}

/// How values are stored: by no configuration at all (`"identity"`), one provider, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum TransformerConfig {
    /// `"identity"` is the only word there is.
    Named(String),
    /// Several providers, the first writes.
    Several {
        /// In order.
        providers: Vec<ProviderConfig>,
    },
    /// One provider, perhaps with identity after it.
    One(ProviderConfig),
}

impl Default for TransformerConfig {
    fn default() -> Self {
        Self::Named("identity".to_owned())
    }
}

/// One provider.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ProviderConfig {
    /// Keys of AES-GCM.
    pub aesgcm: Option<Vec<KeyConfig>>,
    /// Keys of AES-CBC.
    pub aescbc: Option<Vec<KeyConfig>>,
    /// Keys of secretbox.
    pub secretbox: Option<Vec<KeyConfig>>,
    /// It is identity.
    pub identity: bool,
    /// Identity follows it.
    pub identity_fallback: bool,
}

/// A named key; the secrets of recordings are no secrets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KeyConfig {
    /// Its name in the envelope.
    pub name: String,
    /// Base64.
    pub secret: String,
}
