//! Which resource is encrypted how.

use std::{fs, path::Path, sync::Arc};

use kubestore_metrics::Recorder;
use zeroize::Zeroizing;

use super::{ConfigError, ResourcePattern, reader};
use crate::{Identity, KeyWrites, Provider, ProviderChain, Transformer};

/// An `EncryptionConfiguration` (`apiserver.config.k8s.io/v1`) of a Kubernetes API server, checked as it checks it.
///
/// Three things differ: `kms` providers are not yet supported, a resource without a name is refused, and so is a file of
/// several documents, of which an API server reads the first and ignores the others without a word.
///
/// ```
/// use kubestore_transform::EncryptionConfig;
///
/// let text = "
/// apiVersion: apiserver.config.k8s.io/v1
/// kind: EncryptionConfiguration
/// resources:
/// - resources: [secrets]
///   providers:
///   - aesgcm:
///       keys:
///       - {name: key1, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}
///   - identity: {}
/// ";
/// let config = EncryptionConfig::from_str(text, "encryption.yaml")?;
/// assert!(config.transformer_for("", "secrets").output_is_unique());
/// assert!(!config.transformer_for("", "pods").output_is_unique());
/// # Ok::<(), kubestore_transform::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EncryptionConfig {
    rules: Vec<ResourceRule>,
    recorder: Option<Arc<dyn Recorder>>,
}

/// One element of `resources`: the providers for some resources.
#[derive(Clone, Debug)]
pub struct ResourceRule {
    resources: Vec<ResourcePattern>,
    providers: Vec<Provider>,
}

impl EncryptionConfig {
    /// Reads a file of YAML or JSON. It blocks on the file.
    ///
    /// # Errors
    /// The file cannot be read, or something in it is wrong; the error names the file, each field and the remedy.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map(Zeroizing::new).map_err(|cause| {
            ConfigError::whole(&name, "cannot be read; check its path and permissions").with_source(cause)
        })?;
        Self::from_str(&text, &name)
    }

    /// Reads a text of YAML or JSON; `name` stands for it in errors.
    ///
    /// # Errors
    /// Something in it is wrong; the error names each field and the remedy.
    pub fn from_str(text: &str, name: &str) -> Result<Self, ConfigError> {
        Ok(Self { rules: reader::read(text, name)?, recorder: None })
    }

    /// Makes the transformers report what they do; see [`ProviderChain::with_recorder`].
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// The rules, in the order of the file.
    #[must_use]
    pub fn rules(&self) -> &[ResourceRule] {
        &self.rules
    }

    /// The providers for a resource, the writing one first; none if no rule is for it.
    ///
    /// A rule that names the resource comes before one for its group (`*.apps`), and that before one for everything
    /// (`*.*`). If several rules name it, their providers follow one another. Events are in the core group.
    #[must_use]
    pub fn providers_for(&self, group: &str, resource: &str) -> Vec<&Provider> {
        let exact = ResourcePattern { group: group.to_owned(), resource: resource.to_owned() };
        let in_group = ResourcePattern { group: group.to_owned(), resource: "*".to_owned() };
        let everything = ResourcePattern { group: "*".to_owned(), resource: "*".to_owned() };
        [exact, in_group, everything]
            .iter()
            .map(|pattern| {
                let rules = self.rules.iter().filter(|rule| rule.resources.contains(pattern));
                rules.flat_map(ResourceRule::providers).collect::<Vec<_>>()
            })
            .find(|providers| !providers.is_empty())
            .unwrap_or_default()
    }

    /// The transformer for a resource: identity if no rule is for it. Transformers of one configuration share keys and
    /// counters.
    #[must_use]
    pub fn transformer_for(&self, group: &str, resource: &str) -> Arc<dyn Transformer> {
        match ProviderChain::new(self.providers_for(group, resource).into_iter().cloned()) {
            Err(_) => Arc::new(Identity),
            Ok(chain) => match &self.recorder {
                None => Arc::new(chain),
                Some(recorder) => {
                    Arc::new(chain.with_recorder(Arc::clone(recorder)).for_resource(group, resource))
                }
            },
        }
    }

    /// How often each key has written in this process. A key that stands in several rules is listed once.
    #[must_use]
    pub fn writes(&self) -> Vec<KeyWrites> {
        let mut counted = Vec::new();
        let providers = self.rules.iter().flat_map(ResourceRule::providers);
        providers.for_each(|provider| provider.count_into(&mut counted));
        counted.into_iter().map(|(_, writes)| writes).collect()
    }
}

impl ResourceRule {
    pub(super) fn new(resources: Vec<ResourcePattern>, providers: Vec<Provider>) -> Self {
        Self { resources, providers }
    }

    /// What it is for.
    #[must_use]
    pub fn resources(&self) -> &[ResourcePattern] {
        &self.resources
    }

    /// How that is stored, the writing provider first.
    #[must_use]
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }
}
