//! The error itself and what can be asked of it.

use std::{borrow::Cow, error::Error, fmt};

use super::{BoxError, ErrorKind, Status};

/// A storage operation that failed.
///
/// [`kind`](Self::kind) and the `is_*` questions are for programs; `Display` is for people: which operation, on which key,
/// what is wrong and what helps, with the cause left to [`source`](Error::source); [`status`](Self::status) is for clients,
/// in Kubernetes' own words. Neither `Display` nor `Debug` ever shows a stored value.
pub struct StorageError(Box<Inner>);

pub(super) struct Inner {
    pub(super) kind: ErrorKind,
    pub(super) operation: &'static str,
    pub(super) key: Option<String>,
    /// Ours, for people; empty where the kind says it all.
    pub(super) message: Cow<'static, str>,
    pub(super) requested: Option<u64>,
    pub(super) current: Option<u64>,
    pub(super) wire: Wire,
    pub(super) source: Option<BoxError>,
}

/// What the client is told, where the kind does not decide it.
pub(super) enum Wire {
    /// The kind decides.
    Kind,
    /// The additional text of the reference's storage errors.
    Additional(String),
    /// A text of the reference's own.
    Text(String),
    /// All of it.
    Status(Status),
}

impl StorageError {
    /// An error of `kind`, of which nothing else is known.
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner {
            kind,
            operation: "",
            key: None,
            message: Cow::Borrowed(""),
            requested: None,
            current: None,
            wire: Wire::Kind,
            source: None,
        }))
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(&mut self.0);
        self
    }

    /// Names the operation, unless it is named already.
    #[must_use]
    pub fn with_operation(self, operation: &'static str) -> Self {
        self.with(|inner| {
            if inner.operation.is_empty() {
                inner.operation = operation;
            }
        })
    }

    /// Names the key, unless it is named already.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        self.with(|inner| {
            inner.key.get_or_insert_with(|| key.into());
        })
    }

    /// Says what is wrong and what helps, for people.
    #[must_use]
    pub fn with_message(self, message: impl Into<Cow<'static, str>>) -> Self {
        self.with(|inner| inner.message = message.into())
    }

    /// The client's text, where the reference has one of its own for this case.
    #[must_use]
    pub fn with_status_message(self, text: impl Into<String>) -> Self {
        self.with(|inner| inner.wire = Wire::Text(text.into()))
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(self, cause: impl Into<BoxError>) -> Self {
        self.with(|inner| inner.source = Some(cause.into()))
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed: `create`, `get`, `list`, `update`, `delete`, `count`, `watch`; "" where it is not known.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The backend's key concerned, path prefix included.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// The resource version that was asked for.
    #[must_use]
    pub fn requested_resource_version(&self) -> Option<u64> {
        self.0.requested
    }

    /// The newest resource version there was.
    #[must_use]
    pub fn current_resource_version(&self) -> Option<u64> {
        self.0.current
    }

    /// With an [`Expired`](ErrorKind::Expired): a token that goes on after the last object, at one newer state.
    #[must_use]
    pub fn continue_token(&self) -> Option<&str> {
        match &self.0.wire {
            Wire::Status(status) => status.continue_token.as_deref(),
            _ => None,
        }
    }

    /// What is wrong, without operation and key.
    #[must_use]
    pub fn message(&self) -> &str {
        if self.0.message.is_empty() { self.0.kind.description() } else { &self.0.message }
    }

    /// Kubernetes' own words, for the wire.
    #[must_use]
    pub fn status(&self) -> Status {
        let (reason, code) = self.0.kind.reason_and_code();
        let text = match &self.0.wire {
            Wire::Status(status) => return status.clone(),
            Wire::Text(text) => text.clone(),
            Wire::Additional(additional) => self.storage_text(additional),
            Wire::Kind => match (self.0.kind, &self.0.source) {
                (ErrorKind::Callback, Some(source)) => source.to_string(),
                _ => self.storage_text(""),
            },
        };
        Status::new(code, reason, text)
    }

    /// The reference's text of its storage errors; for all other kinds, ours.
    fn storage_text(&self, additional: &str) -> String {
        let Some((number, text)) = self.0.kind.storage_code() else { return self.message().to_owned() };
        let key = self.0.key.as_deref().unwrap_or_default();
        format!(
            "StorageError: {text}, Code: {number}, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {additional}"
        )
    }

    /// The additional text of the reference's storage errors, "" where it has none.
    #[must_use]
    pub fn additional_message(&self) -> &str {
        match &self.0.wire {
            Wire::Additional(text) => text,
            _ => "",
        }
    }

    /// Whether [`status`](Self::status) is a status of its own and not made from the kind: what a watch passes on as it
    /// is, while everything else becomes an [`internal`](Status::internal) one.
    #[must_use]
    pub fn has_own_status(&self) -> bool {
        matches!(self.0.wire, Wire::Status(_))
    }

    /// The error as a watch reports it: with a status of its own, made if there is none.
    #[must_use]
    pub fn into_watch_error(self) -> Self {
        if self.has_own_status() {
            return self;
        }
        let status = Status::internal(&self.status().message);
        self.with(|inner| inner.wire = Wire::Status(status))
    }

    /// See [`ErrorKind::is_retryable`].
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.kind.is_retryable()
    }

    /// The object does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.0.kind == ErrorKind::KeyNotFound
    }

    /// The object exists already.
    #[must_use]
    pub fn is_exist(&self) -> bool {
        self.0.kind == ErrorKind::KeyExists
    }

    /// Somebody else changed the object.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.0.kind == ErrorKind::ResourceVersionConflict
    }

    /// A precondition does not hold.
    #[must_use]
    pub fn is_invalid_object(&self) -> bool {
        self.0.kind == ErrorKind::InvalidObject
    }

    /// The resource version asked for has not happened yet.
    #[must_use]
    pub fn is_too_large_resource_version(&self) -> bool {
        self.0.kind == ErrorKind::TooLargeResourceVersion
    }

    /// The resource version or continue token is compacted.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.0.kind == ErrorKind::Expired
    }

    /// The stored value is there but cannot be read: undecryptable or undecodable.
    #[must_use]
    pub fn is_corrupt(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Corrupt | ErrorKind::Internal)
    }

    /// A write may have been applied.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.kind == ErrorKind::OutcomeUnknown
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.operation, &self.0.key) {
            ("", None) => {}
            ("", Some(key)) => write!(f, "{}: ", key.escape_debug())?,
            (operation, None) => write!(f, "{operation}: ")?,
            (operation, Some(key)) => write!(f, "{operation} of {}: ", key.escape_debug())?,
        }
        f.write_str(self.message())
    }
}

impl fmt::Debug for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StorageError")
            .field("kind", &self.0.kind)
            .field("operation", &self.0.operation)
            .field("key", &self.0.key)
            .field("message", &self.message())
            .field("requested", &self.0.requested)
            .field("current", &self.0.current)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl Error for StorageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|cause| cause as _)
    }
}
