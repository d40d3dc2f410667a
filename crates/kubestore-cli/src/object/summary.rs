//! What can be told of a value without decoding all of it.

use bytes::Bytes;
use kubestore::{
    codec::{Encoding, Opaque, protobuf, sniff},
    transform::EnvelopeHeader,
};

/// What is in front of a stored value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// `identity` for a value that is not encrypted.
    pub(crate) provider: String,
    pub(crate) version: Option<String>,
    pub(crate) key_name: Option<String>,
}

impl Envelope {
    pub(crate) fn of(stored: &[u8]) -> Self {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        match EnvelopeHeader::parse(stored) {
            None => Self { provider: "identity".to_owned(), version: None, key_name: None },
            Some(header) => Self {
                provider: text(header.provider).unwrap_or_else(|| "damaged".to_owned()),
                version: text(header.version),
                key_name: header.key_name.map(str::to_owned),
            },
        }
    }

    /// In a few words: `identity`, `aesgcm v1, key "key1"`.
    pub(crate) fn words(&self) -> String {
        let mut words = self.provider.clone();
        if let Some(version) = &self.version {
            words += &format!(" {version}");
        }
        if let Some(name) = &self.key_name {
            words += &format!(", key {name:?}");
        }
        words
    }

    /// As short as can be: `aesgcm:key1`.
    pub(crate) fn short(&self) -> String {
        match &self.key_name {
            Some(name) => format!("{}:{name}", self.provider),
            None => self.provider.clone(),
        }
    }
}

/// What a plain value says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) api_version: String,
    pub(crate) kind: String,
}

impl Summary {
    /// Empty where the value does not say.
    pub(crate) fn of(plain: &Bytes) -> Self {
        if sniff(plain) == Encoding::Protobuf {
            return protobuf::Envelope::parse(plain).map_or_else(
                |_| Self::default(),
                |envelope| Self {
                    api_version: envelope.api_version().to_owned(),
                    kind: envelope.kind().to_owned(),
                },
            );
        }
        match Opaque::new(plain.clone()) {
            Ok(object) => {
                Self { api_version: object.api_version().to_owned(), kind: object.kind().to_owned() }
            }
            Err(_) => Self::default(),
        }
    }
}

/// The name of an encoding.
pub(crate) fn encoding(plain: &[u8]) -> &'static str {
    match sniff(plain) {
        Encoding::Json => "json",
        Encoding::Protobuf => "protobuf",
        Encoding::Cbor => "cbor",
        Encoding::Encrypted { .. } => "encrypted",
        _ => "unknown",
    }
}
