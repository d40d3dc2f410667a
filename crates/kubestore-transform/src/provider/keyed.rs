//! A local cipher with its keys.

use std::{mem, sync::Arc};

use bytes::{Buf, Bytes, BytesMut};

use super::{CipherKind, ProviderError};
use crate::{
    EnvelopeHeader, Key, KeyWrites, Opened, TransformError, TransformErrorKind, ValueContext, chain::Probe,
    cipher::Cipher, usage::Usage,
};

/// Of several keys the first writes; a key reads what has its name.
#[derive(Clone)]
pub(crate) struct Keyed {
    cipher: CipherKind,
    keys: Arc<[SealingKey]>,
    pub(crate) warn_at: Option<u64>,
}

struct SealingKey {
    /// The whole front of its values: `k8s:enc:<provider>:v1:<name>:`.
    header: String,
    /// Where its own part of the header begins.
    name_at: usize,
    cipher: Box<dyn Cipher>,
    usage: Arc<Usage>,
}

impl SealingKey {
    /// The name and a colon.
    fn label(&self) -> &str {
        &self.header[self.name_at..]
    }

    fn name(&self) -> &str {
        let label = self.label();
        label.strip_suffix(':').unwrap_or(label)
    }
}

impl Keyed {
    pub(crate) fn new(
        cipher: CipherKind,
        keys: impl IntoIterator<Item = (Key, Arc<Usage>)>,
    ) -> Result<Self, ProviderError> {
        let keys = keys
            .into_iter()
            .map(|(key, usage)| {
                Ok(SealingKey {
                    header: format!("{}{}:", cipher.prefix, key.name()),
                    name_at: cipher.prefix.len(),
                    cipher: (cipher.cipher)(&key)?,
                    usage,
                })
            })
            .collect::<Result<Arc<[_]>, ProviderError>>()?;
        if keys.is_empty() {
            return Err(ProviderError::NoKeys { provider: cipher.name });
        }
        Ok(Self { cipher, keys, warn_at: cipher.write_warning })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(SealingKey::name)
    }

    #[cfg(feature = "config")]
    pub(crate) fn usages(&self) -> impl Iterator<Item = &Arc<Usage>> {
        self.keys.iter().map(|key| &key.usage)
    }

    pub(crate) fn writes(&self) -> impl Iterator<Item = KeyWrites> {
        self.keys.iter().map(|key| KeyWrites {
            provider: self.cipher.name.to_owned(),
            key: key.name().to_owned(),
            writes: key.usage.writes(),
        })
    }

    /// Opens a value with this provider's prefix. Keys may share a name while one of them is being replaced, so that
    /// all that fit are tried.
    pub(crate) fn open(
        &self,
        mut stored: Bytes,
        context: ValueContext<'_>,
        probe: Probe<'_>,
    ) -> Result<Opened, TransformError> {
        let fits = |key: &SealingKey, stored: &[u8]| stored.starts_with(key.header.as_bytes());
        let mut errors = Vec::new();
        let mut at = 0;
        while let Some(number) = (at..self.keys.len()).find(|&number| fits(&self.keys[number], &stored)) {
            let key = &self.keys[number];
            at = (number + 1..self.keys.len())
                .find(|&number| fits(&self.keys[number], &stored))
                .unwrap_or(self.keys.len());
            // The last key that fits gets the only handle, so that it can work in place.
            let mut sealed = if at == self.keys.len() { mem::take(&mut stored) } else { stored.clone() };
            sealed.advance(key.header.len());
            let sealed = sealed.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
            let opened = key.cipher.open(sealed, context.authenticated_data());
            probe.record(key.label(), opened.is_ok());
            match opened {
                Ok(data) => return Ok(Opened::new(data, number != 0)),
                Err(error) => errors.push(error.with_provider(self.cipher.name).with_key_name(key.name())),
            }
        }
        if errors.is_empty() {
            probe.record_unknown();
            return Err(self.unknown_key(&stored));
        }
        Err(TransformError::all(errors))
    }

    pub(crate) fn seal(
        &self,
        plain: &[u8],
        context: ValueContext<'_>,
        probe: Probe<'_>,
    ) -> Result<Bytes, TransformError> {
        let key = &self.keys[0];
        let sealed = key.cipher.seal(key.header.as_bytes(), plain, context.authenticated_data());
        probe.record(key.label(), sealed.is_ok());
        let sealed =
            sealed.map_err(|error| error.with_provider(self.cipher.name).with_key_name(key.name()))?;
        key.usage.count(self.cipher.name, key.name(), self.warn_at);
        probe.record_key_write(self.cipher.name, key.name());
        Ok(sealed)
    }

    /// No key has the name in the envelope, if the envelope has one at all.
    fn unknown_key(&self, stored: &[u8]) -> TransformError {
        let unknown = TransformError::new(TransformErrorKind::UnknownKeyName).with_provider(self.cipher.name);
        match EnvelopeHeader::parse(stored).and_then(|header| header.key_name) {
            Some(name) => unknown.with_key_name(name).with_tried(self.names()),
            None => {
                let status = unknown.status_message().into_owned();
                TransformError::new(TransformErrorKind::Truncated)
                    .with_provider(self.cipher.name)
                    .with_tried(self.names())
                    .with_status_message(status)
            }
        }
    }
}
