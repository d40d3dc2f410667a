//! What a census found.

use serde::{Deserialize, Serialize};

use crate::{PlainEncoding, ResourceId};

/// What is stored and how. As JSON it has the same names in camel case.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Census {
    /// The path under which it was looked.
    pub prefix: String,
    /// The revision that was counted.
    pub revision: i64,
    /// The revision of the last part that was read: the same, unless that was compacted meanwhile.
    pub last_revision: i64,
    /// All values.
    pub values: u64,
    /// Bytes of all values as stored, without their keys.
    pub bytes: u64,
    /// By resource, then by form.
    pub rows: Vec<CensusRow>,
}

/// Values of one resource that are stored in the same way.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CensusRow {
    /// Whose they are.
    pub resource: ResourceId,
    /// The provider in the envelope, `identity` for what is not encrypted, empty for a damaged envelope.
    pub provider: String,
    /// The version in the envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The key name in the envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_name: Option<String>,
    /// How values are encoded that are not encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<PlainEncoding>,
    /// How many.
    pub values: u64,
    /// Their bytes as stored.
    pub bytes: u64,
    /// What the configuration says of them, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
}

/// How values stand to a configuration, judged by names: a key of the same name with another secret looks the same, which
/// only [`verify`](crate::verify()) finds out.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// Written as they would be written now.
    Current,
    /// Readable, but a rewrite is due.
    Stale,
    /// The configuration has nothing to read them with.
    Unreadable,
    /// Which rule applies cannot be told from the key.
    Unknown,
}

impl Census {
    /// The values of which the configuration says this; none if no configuration was given.
    #[must_use]
    pub fn values_that_are(&self, standing: Standing) -> u64 {
        self.rows.iter().filter(|row| row.standing == Some(standing)).map(|row| row.values).sum()
    }
}

impl CensusRow {
    /// Whether the values are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.encoding.is_none()
    }

    /// In a word: `aesgcm:key1`, `kms:v2:plugin`, `json`, `damaged envelope`. A version other than `v1` is named.
    #[must_use]
    pub fn form(&self) -> String {
        if let Some(encoding) = self.encoding {
            return encoding.as_str().to_owned();
        }
        if self.provider.is_empty() {
            return "damaged envelope".to_owned();
        }
        let mut form = self.provider.clone();
        for part in [self.version.as_deref().filter(|version| *version != "v1"), self.key_name.as_deref()] {
            form.extend(part.into_iter().flat_map(|part| [":", part]));
        }
        form
    }
}

impl Standing {
    /// In lower case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Stale => "stale",
            Self::Unreadable => "unreadable",
            Self::Unknown => "unknown",
        }
    }
}
