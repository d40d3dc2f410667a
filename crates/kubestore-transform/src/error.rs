//! The one error of this crate's transformers.

use std::{borrow::Cow, collections::HashSet, error::Error, fmt};

use crate::EnvelopeHeader;

/// A cause of any type.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// What went wrong, as far as it can be known.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransformErrorKind {
    /// The value does not belong to this secret and this etcd key, or it is damaged. A tag cannot say more.
    AuthenticationFailed,
    /// What was decrypted does not end as it must: most likely another secret under the same name, or damage. Of ciphers
    /// without authentication only.
    BadPadding,
    /// The value is encrypted, and nothing but identity is configured.
    EncryptedButIdentity,
    /// The value is encrypted by a provider that is not configured.
    NoMatchingPrefix,
    /// The value is not encrypted, and identity is not configured.
    NotEncrypted,
    /// The operating system gave no random bytes.
    RandomSource,
    /// A remote key service failed.
    Remote,
    /// The value is larger than the cipher takes.
    TooLarge,
    /// The value is shorter than the shortest there can be, or ends in the middle.
    Truncated,
    /// The provider has no key of the name that the value was sealed with.
    UnknownKeyName,
}

/// A value that could not be opened or sealed.
///
/// `Display` says what is wrong and what to do about it, with provider and key name, and leaves the etcd key to the
/// caller, who has it. [`status_message`](Self::status_message) is what a Kubernetes API server says. Neither shows a
/// secret or a part of a value.
pub struct TransformError(Box<Inner>);

struct Inner {
    kind: TransformErrorKind,
    provider: Option<Cow<'static, str>>,
    key_name: Option<String>,
    tried: Vec<String>,
    status: Option<Cow<'static, str>>,
    causes: Vec<TransformError>,
    source: Option<BoxError>,
}

impl TransformError {
    /// A failure of which no more than the kind is known.
    #[must_use]
    pub fn new(kind: TransformErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            provider: None,
            key_name: None,
            tried: Vec::new(),
            status: None,
            causes: Vec::new(),
            source: None,
        }))
    }

    /// Names the provider.
    #[must_use]
    pub fn with_provider(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.0.provider = Some(name.into());
        self
    }

    /// Names the key that the envelope names.
    #[must_use]
    pub fn with_key_name(mut self, name: impl Into<String>) -> Self {
        self.0.key_name = Some(name.into());
        self
    }

    /// Names the keys or providers that are configured.
    #[must_use]
    pub fn with_tried(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.0.tried = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets what a Kubernetes API server would say, where that does not follow from the kind.
    #[must_use]
    pub fn with_status_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.status = Some(message.into());
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, cause: impl Into<BoxError>) -> Self {
        self.0.source = Some(cause.into());
        self
    }

    /// Names provider and key as the envelope of `stored` has them.
    pub(crate) fn found_in(self, stored: &[u8]) -> Self {
        let Some(header) = EnvelopeHeader::parse(stored) else { return self };
        let named =
            if header.provider.is_empty() { self } else { self.with_provider(header.provider.to_owned()) };
        match header.key_name {
            Some(name) => named.with_key_name(name),
            None => named,
        }
    }

    /// One error for several attempts that failed; the kind is that of the attempt that came furthest.
    pub(crate) fn all(mut errors: Vec<Self>) -> Self {
        if errors.len() == 1
            && let Some(only) = errors.pop()
        {
            return only;
        }
        let found = |error: &&Self| error.kind() != TransformErrorKind::UnknownKeyName;
        let telling = errors.iter().find(found).or(errors.first());
        let mut all = Self::new(telling.map_or(TransformErrorKind::NoMatchingPrefix, Self::kind));
        if let Some(telling) = telling {
            all.0.provider.clone_from(&telling.0.provider);
            all.0.key_name.clone_from(&telling.0.key_name);
        }
        all.0.tried = errors.iter().flat_map(|error| error.0.tried.iter().cloned()).collect();
        all.0.causes = errors;
        all
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> TransformErrorKind {
        self.0.kind
    }

    /// The provider concerned: the one that failed, or the one that the envelope names.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.0.provider.as_deref()
    }

    /// The key that the envelope names.
    #[must_use]
    pub fn key_name(&self) -> Option<&str> {
        self.0.key_name.as_deref()
    }

    /// The configured keys, or for a provider that is not configured, the configured providers.
    #[must_use]
    pub fn tried(&self) -> &[String] {
        &self.0.tried
    }

    /// The failed attempts, if more than one provider or key took the value.
    #[must_use]
    pub fn attempts(&self) -> &[Self] {
        &self.0.causes
    }

    /// What a Kubernetes API server says. Several failed attempts are in brackets, each text once.
    #[must_use]
    pub fn status_message(&self) -> Cow<'_, str> {
        if self.0.causes.is_empty() {
            return Cow::Borrowed(self.0.status.as_deref().unwrap_or_else(|| self.usual_status()));
        }
        let mut seen = HashSet::new();
        let mut texts = Vec::new();
        self.each_attempt(&mut |attempt| {
            let text = attempt.status_message();
            if seen.insert(text.clone()) {
                texts.push(text);
            }
        });
        match &texts[..] {
            [only] => Cow::Owned(only.clone().into_owned()),
            _ => Cow::Owned(format!("[{}]", texts.join(", "))),
        }
    }

    fn each_attempt<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        for cause in &self.0.causes {
            if cause.0.causes.is_empty() {
                visit(cause);
            } else {
                cause.each_attempt(visit);
            }
        }
    }

    fn usual_status(&self) -> &'static str {
        use TransformErrorKind as Kind;
        let secretbox = self.provider() == Some("secretbox");
        match self.0.kind {
            Kind::AuthenticationFailed if secretbox => "output array was not large enough for encryption",
            Kind::AuthenticationFailed => "cipher: message authentication failed",
            Kind::BadPadding => "invalid padding on input",
            Kind::EncryptedButIdentity => "identity transformer tried to read encrypted data",
            Kind::NoMatchingPrefix | Kind::NotEncrypted => "no matching prefix found",
            Kind::RandomSource => "unable to read sufficient random bytes",
            Kind::Remote => "the key service failed",
            Kind::TooLarge => "the value is too large",
            Kind::Truncated => "the stored data was shorter than the required size",
            Kind::UnknownKeyName if secretbox => {
                "no matching key was found for the provided Secretbox transformer"
            }
            Kind::UnknownKeyName => "no matching key was found for the provided AES transformer",
        }
    }

    /// Provider and key, as the subject of a sentence.
    fn subject(&self) -> String {
        match (self.provider(), self.key_name()) {
            (Some(provider), Some(key)) => format!("provider {provider}, key {key:?}"),
            (Some(provider), None) => format!("provider {provider}"),
            (None, Some(key)) => format!("key {key:?}"),
            (None, None) => "encryption".to_owned(),
        }
    }
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use TransformErrorKind as Kind;
        if !self.0.causes.is_empty() {
            for (number, attempt) in self.0.causes.iter().enumerate() {
                write!(f, "{}{attempt}", if number == 0 { "" } else { "; " })?;
            }
            return Ok(());
        }
        write!(f, "{}: ", self.subject())?;
        let tried = self.0.tried.join(", ");
        match self.0.kind {
            Kind::AuthenticationFailed => f.write_str(
                "authentication failed (wrong secret under this name, moved, or damaged); configure the secret that \
                 the value was written with, or restore the value under its own key",
            ),
            Kind::BadPadding => f.write_str(
                "what was decrypted is not padded as it must be (wrong secret under this name, or damaged); configure \
                 the secret that the value was written with, or restore the value",
            ),
            Kind::EncryptedButIdentity => f.write_str(
                "the value is encrypted, and only identity is configured; configure the provider and the key that it \
                 was written with",
            ),
            Kind::NoMatchingPrefix => write!(
                f,
                "the value is encrypted by a provider that is not configured (configured: {tried}); add the provider \
                 and the key that it was written with"
            ),
            Kind::NotEncrypted => write!(
                f,
                "the value is not encrypted, and identity is not configured (configured: {tried}); add identity as \
                 the last provider"
            ),
            Kind::RandomSource => f.write_str("the operating system gave no random bytes; nothing was written"),
            Kind::Remote => f.write_str("the key service failed"),
            Kind::TooLarge => f.write_str("the value is larger than the cipher takes; make the object smaller"),
            Kind::Truncated => f.write_str("the value is cut off; restore it from a backup"),
            Kind::UnknownKeyName => write!(
                f,
                "no key has the name in the value (configured: {tried}); add the key that it was written with"
            ),
        }
    }
}

impl fmt::Debug for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransformError")
            .field("kind", &self.0.kind)
            .field("provider", &self.0.provider)
            .field("key_name", &self.0.key_name)
            .field("tried", &self.0.tried)
            .field("attempts", &self.0.causes)
            .field("source", &self.0.source)
            .finish()
    }
}

impl Error for TransformError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|cause| cause as _)
    }
}
