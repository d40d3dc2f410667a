//! Several providers for one resource.

mod opening;
mod probe;

use std::sync::Arc;

use bytes::Bytes;
use kubestore_metrics::{Direction, Recorder};

pub(crate) use self::probe::Probe;
use self::{opening::Opening, probe::Measured};
use crate::{
    KeyWrites, MaybeReady, Opened, Provider, ProviderError, TransformError, Transformer, ValueContext,
};

/// Several providers: the first writes, and every one reads the values with its prefix. What was not written by the
/// first key of the first provider is [stale](Opened::stale), so that it is rewritten when it can be.
///
/// Providers may have the same prefix, while keys are moved from one to another; all that match are tried in order.
/// Identity matches whatever is not encrypted.
///
/// ```
/// use kubestore_transform::{Key, Provider, ProviderChain, Transformer, ValueContext};
///
/// let keys = [Key::new("key2", [2; 32])?, Key::new("key1", [1; 32])?];
/// let chain = ProviderChain::new([Provider::aes_gcm(keys)?, Provider::identity()])?;
///
/// let context = ValueContext::new(b"/registry/secrets/default/token");
/// let stored = chain.transform_to_storage("value".into(), context).try_now().expect("local")?;
/// assert!(stored.starts_with(b"k8s:enc:aesgcm:v1:key2:"));
/// let opened = chain.transform_from_storage(stored, context).try_now().expect("local")?;
/// assert_eq!((&opened.data[..], opened.stale), (&b"value"[..], false));
///
/// let opened = chain.transform_from_storage("plain".into(), context).try_now().expect("local")?;
/// assert!(opened.stale);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProviderChain {
    providers: Arc<[Provider]>,
    measured: Option<Measured>,
}

impl ProviderChain {
    /// Puts providers together, the writing one first.
    ///
    /// # Errors
    /// [`NoProviders`](ProviderError::NoProviders).
    pub fn new(providers: impl IntoIterator<Item = Provider>) -> Result<Self, ProviderError> {
        let providers: Arc<[_]> = providers.into_iter().collect();
        if providers.is_empty() {
            return Err(ProviderError::NoProviders);
        }
        Ok(Self { providers, measured: None })
    }

    /// Reports every transformation, as a Kubernetes API server counts it, and every write with a key.
    ///
    /// Kubernetes counts at both levels: one event has the provider's prefix, and for providers with keys another has
    /// the key's name and a colon.
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.measured = Some(Measured { recorder, resource: None });
        self
    }

    /// Names the resource in what is reported, and so does nothing before
    /// [`with_recorder`](Self::with_recorder). Newer releases of Kubernetes have it among the labels.
    #[must_use]
    pub fn for_resource(mut self, group: impl Into<String>, resource: impl Into<String>) -> Self {
        if let Some(measured) = &mut self.measured {
            measured.resource = Some((group.into(), resource.into()));
        }
        self
    }

    /// The providers, the writing one first.
    #[must_use]
    pub fn providers(&self) -> &[Provider] {
        &self.providers
    }

    /// How often each key has written in this process.
    #[must_use]
    pub fn writes(&self) -> Vec<KeyWrites> {
        self.providers.iter().flat_map(Provider::writes).collect()
    }

    fn probe(&self, direction: Direction) -> Probe<'_> {
        Probe::new(self.measured.as_ref(), direction)
    }
}

impl Transformer for ProviderChain {
    fn transform_from_storage<'a>(
        &'a self,
        stored: Bytes,
        context: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Opened, TransformError>> {
        Opening::new(&self.providers, stored, context, self.probe(Direction::FromStorage)).run()
    }

    fn transform_to_storage<'a>(
        &'a self,
        plain: Bytes,
        context: ValueContext<'a>,
    ) -> MaybeReady<'a, Result<Bytes, TransformError>> {
        let (probe, writer) = (self.probe(Direction::ToStorage), &self.providers[0]);
        match writer.seal(plain, context, probe).try_now() {
            Ok(sealed) => {
                probe.record(writer.prefix(), sealed.is_ok());
                MaybeReady::ready(sealed)
            }
            Err(sealing) => MaybeReady::later(Box::pin(async move {
                let sealed = sealing.await;
                probe.record(writer.prefix(), sealed.is_ok());
                sealed
            })),
        }
    }

    fn output_is_unique(&self) -> bool {
        self.providers[0].output_is_unique()
    }
}
