//! How a value is stored, as far as it can be told without a key.

use kubestore_codec::{Encoding, sniff};
use kubestore_transform::EnvelopeHeader;
use serde::{Deserialize, Serialize};

/// How a value that is not encrypted is encoded.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlainEncoding {
    /// JSON.
    Json,
    /// Kubernetes' protobuf.
    Protobuf,
    /// CBOR that says so itself.
    Cbor,
    /// Nothing that Kubernetes writes.
    Unknown,
}

impl PlainEncoding {
    pub(crate) fn of(plain: &[u8]) -> Self {
        match sniff(plain) {
            Encoding::Json => Self::Json,
            Encoding::Protobuf => Self::Protobuf,
            Encoding::Cbor => Self::Cbor,
            _ => Self::Unknown,
        }
    }

    /// In lower case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Protobuf => "protobuf",
            Self::Cbor => "cbor",
            Self::Unknown => "unknown",
        }
    }
}

/// How a value is stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum StoredForm {
    Plain(PlainEncoding),
    Encrypted {
        /// Empty if the envelope is damaged.
        provider: String,
        version: String,
        key_name: Option<String>,
    },
}

impl StoredForm {
    pub(crate) fn of(stored: &[u8]) -> Self {
        match EnvelopeHeader::parse(stored) {
            None => Self::Plain(PlainEncoding::of(stored)),
            Some(header) => Self::Encrypted {
                provider: header.provider.to_owned(),
                version: header.version.to_owned(),
                key_name: header.key_name.map(str::to_owned),
            },
        }
    }

    /// What stands for all forms that are too many to be told apart.
    pub(crate) fn damaged() -> Self {
        Self::Encrypted { provider: String::new(), version: String::new(), key_name: None }
    }
}
