//! Values that cannot be opened or written.

use std::{collections::BTreeMap, error::Error};

use kubestore_kv::KvError;
use kubestore_transform::{EnvelopeHeader, TransformError, TransformErrorKind};
use serde::Serialize;

use crate::ResourceId;

/// How many failures a report tells one by one; of the others it has the number.
pub const MOST_FAILURES: usize = 100;

/// Why a value cannot be opened or written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureCause {
    /// Another secret under the key's name, a value moved from another key, or damage.
    AuthenticationFailed,
    /// Another secret under the key's name, or damage; of AES-CBC, which cannot tell for sure.
    BadPadding,
    /// It was changed again and again while it was to be rewritten.
    Contended,
    /// It is encrypted, and the configuration has nothing but identity for the resource.
    EncryptedButIdentity,
    /// Bytes of no encoding that Kubernetes stores. Told if contents are checked.
    Foreign,
    /// What was sealed did not open to the same value again, and so was not written.
    NotReversible,
    /// It is not encrypted, and the configuration has no identity for the resource.
    NotEncrypted,
    /// AES-CBC gave something that no API server stores: another secret under the key's name, or damage.
    NotAnObject,
    /// Something else; the message says it.
    Other,
    /// It is encrypted by a provider that is not configured for the resource.
    ProviderNotConfigured,
    /// The backend refused the rewritten value as too large.
    TooLarge,
    /// It ends in the middle.
    Truncated,
    /// It opens, and what is in it cannot be decoded. Told if contents are checked.
    Undecodable,
    /// The provider has no key of the name in the envelope.
    UnknownKeyName,
    /// Which rule of the configuration it falls under cannot be told from its path.
    UnknownResource,
}

/// One value that cannot be opened or written. It names the value and what it was sealed with, and never shows what is in
/// it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The whole key in etcd; bytes that are no text are replaced.
    pub key: String,
    /// Whose the key is.
    pub resource: ResourceId,
    /// The provider in the envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The key name in the envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_name: Option<String>,
    /// A key of the configuration that opens it all the same, although it is not one that would be tried for it. Looked
    /// for by [`verify`](crate::verify()) only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_by: Option<OtherKey>,
    /// What is wrong.
    pub cause: FailureCause,
    /// What is wrong and what to do about it, in a sentence.
    pub message: String,
}

/// A key of a configuration.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OtherKey {
    /// Its provider.
    pub provider: String,
    /// Its name.
    pub key_name: String,
    /// What the rule is for in which it stands, as in the configuration.
    pub resources: Vec<String>,
}

/// The failures of a job: how many, why, and the first of them.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failures {
    /// All of them.
    pub total: u64,
    /// How many for each cause.
    pub by_cause: BTreeMap<FailureCause, u64>,
    /// The first [`MOST_FAILURES`], in the order in which they were found.
    pub first: Vec<Failure>,
}

impl Failures {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub(crate) fn add(&mut self, failure: Failure) {
        self.total += 1;
        *self.by_cause.entry(failure.cause).or_default() += 1;
        if self.first.len() < MOST_FAILURES {
            self.first.push(failure);
        }
    }
}

impl FailureCause {
    /// In words, for tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AuthenticationFailed => "authentication failed",
            Self::BadPadding => "bad padding",
            Self::Contended => "changed again and again",
            Self::EncryptedButIdentity => "encrypted, but only identity configured",
            Self::Foreign => "foreign bytes",
            Self::NotReversible => "not reversible",
            Self::NotEncrypted => "not encrypted, and no identity configured",
            Self::NotAnObject => "not an object",
            Self::Other => "other",
            Self::ProviderNotConfigured => "provider not configured",
            Self::TooLarge => "too large",
            Self::Truncated => "truncated",
            Self::Undecodable => "undecodable",
            Self::UnknownKeyName => "unknown key name",
            Self::UnknownResource => "unknown resource",
        }
    }
}

impl From<TransformErrorKind> for FailureCause {
    fn from(kind: TransformErrorKind) -> Self {
        use TransformErrorKind as Kind;
        match kind {
            Kind::AuthenticationFailed => Self::AuthenticationFailed,
            Kind::BadPadding => Self::BadPadding,
            Kind::EncryptedButIdentity => Self::EncryptedButIdentity,
            Kind::NoMatchingPrefix => Self::ProviderNotConfigured,
            Kind::NotEncrypted => Self::NotEncrypted,
            Kind::TooLarge => Self::TooLarge,
            Kind::Truncated => Self::Truncated,
            Kind::UnknownKeyName => Self::UnknownKeyName,
            _ => Self::Other,
        }
    }
}

/// What is wrong with a value, before it is known whose it is.
#[derive(Debug)]
pub(crate) struct Problem {
    provider: Option<String>,
    key_name: Option<String>,
    pub(crate) cause: FailureCause,
    message: String,
    opened_by: Option<Box<OtherKey>>,
}

impl Problem {
    pub(crate) fn new(cause: FailureCause, message: impl Into<String>) -> Self {
        Self { provider: None, key_name: None, cause, message: message.into(), opened_by: None }
    }

    /// Names what the envelope names.
    pub(crate) fn found_in(mut self, header: Option<EnvelopeHeader<'_>>) -> Self {
        self.provider = header.map(|header| header.provider.to_owned()).filter(|name| !name.is_empty());
        self.key_name = header.and_then(|header| header.key_name).map(str::to_owned);
        self
    }

    /// Names a key that opens the value.
    pub(crate) fn opened_by(mut self, other: OtherKey) -> Self {
        self.message += &format!(
            "; it opens with the key {:?} of provider {} in the rule for {}",
            other.key_name,
            other.provider,
            other.resources.join(", ")
        );
        self.opened_by = Some(Box::new(other));
        self
    }

    pub(crate) fn of(self, key: &[u8], resource: &ResourceId) -> Failure {
        Failure {
            key: String::from_utf8_lossy(key).into_owned(),
            resource: resource.clone(),
            provider: self.provider,
            key_name: self.key_name,
            opened_by: self.opened_by.map(|other| *other),
            cause: self.cause,
            message: self.message,
        }
    }
}

impl From<TransformError> for Problem {
    fn from(error: TransformError) -> Self {
        Self {
            provider: error.provider().map(str::to_owned),
            key_name: error.key_name().map(str::to_owned),
            cause: error.kind().into(),
            message: with_causes(&error),
            opened_by: None,
        }
    }
}

impl From<KvError> for Problem {
    fn from(error: KvError) -> Self {
        let cause = match error.kind() {
            kubestore_kv::KvErrorKind::TooLarge => FailureCause::TooLarge,
            _ => FailureCause::Other,
        };
        Self::new(cause, with_causes(&error))
    }
}

pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(": ");
        message.push_str(&error.to_string());
        cause = error.source();
    }
    message
}
