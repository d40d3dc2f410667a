//! One way to store values, under one prefix.

mod cipher_kind;
mod keyed;

use std::{borrow::Cow, fmt, sync::Arc};

use bytes::{Buf, Bytes};

pub(crate) use cipher_kind::CipherKind;
pub(crate) use keyed::Keyed;

use crate::{
    ENVELOPE_PREFIX, Identity, KeyError, KeyWrites, MaybeReady, Opened, TransformError, Transformer,
    ValueContext, chain::Probe,
};
#[cfg(any(feature = "aes-gcm", feature = "aes-cbc", feature = "secretbox"))]
use crate::{Key, usage::Usage};

/// One way to store values: identity, a cipher with its keys, or a transformer of your own.
///
/// Of several keys the first writes, and all whose name is in the envelope read. A [`ProviderChain`] puts providers
/// together. Clones share keys and counters.
///
/// [`ProviderChain`]: crate::ProviderChain
#[derive(Clone)]
pub struct Provider {
    name: Cow<'static, str>,
    /// How values begin; empty for identity.
    prefix: Cow<'static, str>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Identity,
    Keyed(Keyed),
    Custom(Arc<dyn Transformer>),
}

impl Provider {
    /// Stores values as they are, and reads whatever is not encrypted.
    #[must_use]
    pub fn identity() -> Self {
        Self { name: Cow::Borrowed("identity"), prefix: Cow::Borrowed(""), kind: Kind::Identity }
    }

    /// AES-GCM under `k8s:enc:aesgcm:v1:<key name>:`: a random nonce per value, the etcd key authenticated with it.
    ///
    /// Each key must be replaced before it has sealed [`RANDOM_NONCE_BOUND`](crate::RANDOM_NONCE_BOUND) values; see
    /// [`with_write_warning`](Self::with_write_warning).
    ///
    /// # Errors
    /// There is no key, or one has not 16, 24 or 32 bytes.
    #[cfg(feature = "aes-gcm")]
    pub fn aes_gcm(keys: impl IntoIterator<Item = Key>) -> Result<Self, ProviderError> {
        Self::keyed(CipherKind::AES_GCM, keys.into_iter().map(|key| (key, Arc::<Usage>::default())))
    }

    /// AES-CBC with PKCS#7 padding under `k8s:enc:aescbc:v1:<key name>:`: a random IV per value, *no* authentication.
    ///
    /// Whoever can write to etcd can change values or move them to other keys unnoticed, and one time in 256 a wrong
    /// secret gives nonsense instead of an error. It is here to read data that was written with it.
    ///
    /// # Errors
    /// There is no key, or one has not 16, 24 or 32 bytes.
    #[cfg(feature = "aes-cbc")]
    pub fn aes_cbc(keys: impl IntoIterator<Item = Key>) -> Result<Self, ProviderError> {
        Self::keyed(CipherKind::AES_CBC, keys.into_iter().map(|key| (key, Arc::<Usage>::default())))
    }

    /// XSalsa20-Poly1305 under `k8s:enc:secretbox:v1:<key name>:`: a random nonce of 24 bytes per value, long enough
    /// that a key needs no replacing for it; the etcd key is *not* authenticated, so a moved value opens.
    ///
    /// # Errors
    /// There is no key, or one has not 32 bytes.
    #[cfg(feature = "secretbox")]
    pub fn secretbox(keys: impl IntoIterator<Item = Key>) -> Result<Self, ProviderError> {
        Self::keyed(CipherKind::SECRETBOX, keys.into_iter().map(|key| (key, Arc::<Usage>::default())))
    }

    /// A transformer of your own for values that begin with `prefix`, which it neither sees nor makes.
    ///
    /// # Errors
    /// `prefix` is not of the form `k8s:enc:<name>:<version>:`, with anything after that which ends in a colon.
    pub fn custom(
        prefix: impl Into<String>,
        transformer: Arc<dyn Transformer>,
    ) -> Result<Self, ProviderError> {
        let prefix = prefix.into();
        let bad = || ProviderError::BadPrefix { prefix: prefix.clone() };
        let rest = prefix.as_bytes().strip_prefix(ENVELOPE_PREFIX).ok_or_else(bad)?;
        let parts: Vec<_> = rest.split(|&byte| byte == b':').collect();
        let [name, version, .., last] = &parts[..] else { return Err(bad()) };
        if name.is_empty() || version.is_empty() || !last.is_empty() {
            return Err(bad());
        }
        let name = String::from_utf8_lossy(name).into_owned();
        Ok(Self { name: Cow::Owned(name), prefix: Cow::Owned(prefix), kind: Kind::Custom(transformer) })
    }

    #[cfg(any(feature = "aes-gcm", feature = "aes-cbc", feature = "secretbox"))]
    pub(crate) fn keyed(
        cipher: CipherKind,
        keys: impl IntoIterator<Item = (Key, Arc<Usage>)>,
    ) -> Result<Self, ProviderError> {
        let keyed = Keyed::new(cipher, keys)?;
        Ok(Self {
            name: Cow::Borrowed(cipher.name),
            prefix: Cow::Borrowed(cipher.prefix),
            kind: Kind::Keyed(keyed),
        })
    }

    /// After how many writes with one key, in this process, a warning is logged; `None` for never. The default is
    /// [`DEFAULT_WRITE_WARNING`](crate::DEFAULT_WRITE_WARNING) for AES-GCM and `None` for all others.
    #[must_use]
    pub fn with_write_warning(mut self, writes: Option<u64>) -> Self {
        if let Kind::Keyed(keyed) = &mut self.kind {
            keyed.warn_at = writes;
        }
        self
    }

    /// Its name in the envelope, or `identity`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the values begin that it takes; empty for identity.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether it is identity.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        matches!(self.kind, Kind::Identity)
    }

    /// The names of its keys, the writing one first.
    #[must_use]
    pub fn key_names(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Keyed(keyed) => keyed.names().collect(),
            Kind::Identity | Kind::Custom(_) => Vec::new(),
        }
    }

    /// How often each key has written in this process. Equal keys of one configuration are counted together.
    #[must_use]
    pub fn writes(&self) -> Vec<KeyWrites> {
        match &self.kind {
            Kind::Keyed(keyed) => keyed.writes().collect(),
            Kind::Identity | Kind::Custom(_) => Vec::new(),
        }
    }

    /// Adds its keys that are not in `counted` yet; a shared counter stands for one key.
    #[cfg(feature = "config")]
    pub(crate) fn count_into(&self, counted: &mut Vec<(Arc<Usage>, KeyWrites)>) {
        let Kind::Keyed(keyed) = &self.kind else { return };
        for (usage, writes) in keyed.usages().zip(keyed.writes()) {
            if !counted.iter().any(|(known, _)| Arc::ptr_eq(known, usage)) {
                counted.push((Arc::clone(usage), writes));
            }
        }
    }

    /// Whether it is worth asking it for `stored`.
    pub(crate) fn takes(&self, stored: &[u8]) -> bool {
        match self.kind {
            Kind::Identity => !stored.starts_with(ENVELOPE_PREFIX),
            _ => stored.starts_with(self.prefix.as_bytes()),
        }
    }

    /// Opens a value that it [`takes`](Self::takes).
    pub(crate) fn open<'a>(
        &'a self,
        mut stored: Bytes,
        context: ValueContext<'a>,
        probe: Probe<'a>,
    ) -> MaybeReady<'a, Result<Opened, TransformError>> {
        match &self.kind {
            Kind::Identity => MaybeReady::ready(Identity::open(stored)),
            Kind::Keyed(keyed) => MaybeReady::ready(keyed.open(stored, context, probe)),
            Kind::Custom(transformer) => {
                stored.advance(self.prefix.len());
                transformer.transform_from_storage(stored, context)
            }
        }
    }

    pub(crate) fn seal<'a>(
        &'a self,
        plain: Bytes,
        context: ValueContext<'a>,
        probe: Probe<'a>,
    ) -> MaybeReady<'a, Result<Bytes, TransformError>> {
        match &self.kind {
            Kind::Identity => MaybeReady::ready(Ok(plain)),
            Kind::Keyed(keyed) => MaybeReady::ready(keyed.seal(&plain, context, probe)),
            Kind::Custom(transformer) => {
                match transformer.transform_to_storage(plain, context).try_now() {
                    Ok(sealed) => MaybeReady::ready(sealed.map(|sealed| self.prefixed(&sealed))),
                    Err(sealing) => MaybeReady::later(Box::pin(async move {
                        sealing.await.map(|sealed| self.prefixed(&sealed))
                    })),
                }
            }
        }
    }

    pub(crate) fn output_is_unique(&self) -> bool {
        match &self.kind {
            Kind::Identity => false,
            Kind::Keyed(_) => true,
            Kind::Custom(transformer) => transformer.output_is_unique(),
        }
    }

    fn prefixed(&self, sealed: &[u8]) -> Bytes {
        [self.prefix.as_bytes(), sealed].concat().into()
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("prefix", &self.prefix).field("keys", &self.key_names()).finish()
    }
}

/// A provider, or a chain of them, that cannot be made.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The prefix of a transformer of your own is not an envelope's.
    #[error("{prefix:?} is not a prefix of the form k8s:enc:<name>:<version>: with a colon at its end")]
    BadPrefix {
        /// The prefix given.
        prefix: String,
    },
    /// One of the keys cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The provider has no key.
    #[error("provider {provider} has no key; give it at least one, the first writes")]
    NoKeys {
        /// The provider.
        provider: &'static str,
    },
    /// The chain has no provider.
    #[error("there is no provider; give at least one, identity if nothing is to be encrypted")]
    NoProviders,
}
