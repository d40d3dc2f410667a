//! Constructors, by the names the reference has for them.

use super::{BoxError, ErrorKind, Status, StorageError, storage_error::Wire};
use crate::{CodecError, InvalidContinueToken, InvalidKey, InvalidResourceVersion, quote};

const LIST_EXPIRED: &str = "The resourceVersion for the provided list is too old.";
const WATCH_EXPIRED: &str = "The resourceVersion for the provided watch is too old.";
const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. \
    You can start a new list without the continue parameter.";
const INCONSISTENT_CONTINUE: &str = "The provided continue parameter is too old to display a consistent list result. \
    You can start a new list without the continue parameter, or use the continue token in this response to retrieve the \
    remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were \
    created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

impl StorageError {
    /// No object at `key`.
    #[must_use]
    pub fn key_not_found(key: impl Into<String>) -> Self {
        Self::new(ErrorKind::KeyNotFound).with_key(key)
    }

    /// There is an object at `key`.
    #[must_use]
    pub fn key_exists(key: impl Into<String>) -> Self {
        Self::new(ErrorKind::KeyExists).with_key(key)
    }

    /// The object at `key` was changed meanwhile.
    #[must_use]
    pub fn conflict(key: impl Into<String>) -> Self {
        Self::new(ErrorKind::ResourceVersionConflict).with_key(key)
    }

    /// A precondition on the object at `key` does not hold; `text` says which, and reaches the client.
    #[must_use]
    pub fn invalid_object(key: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(ErrorKind::InvalidObject)
            .with_key(key)
            .with_message(text.clone())
            .with(|inner| inner.wire = Wire::Additional(text))
    }

    /// The operation did not end in its time; it had come to `key`.
    #[must_use]
    pub fn timeout(key: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(ErrorKind::Timeout)
            .with_key(key)
            .with_message(text.clone())
            .with(|inner| inner.wire = Wire::Additional(text))
    }

    /// `requested` has not happened yet; the newest is `current`.
    #[must_use]
    pub fn too_large_resource_version(requested: u64, current: u64, retry_after_seconds: u32) -> Self {
        let text = format!("Timeout: Too large resource version: {requested}, current: {current}");
        let mut status = Status::new(504, "Timeout", text)
            .with_cause("ResourceVersionTooLarge", "Too large resource version");
        status.retry_after_seconds = retry_after_seconds;
        Self::new(ErrorKind::TooLargeResourceVersion)
            .with_message(format!(
                "resource version {requested} has not happened yet, the newest is {current}; retry after a moment"
            ))
            .with(|inner| {
                inner.requested = Some(requested);
                inner.current = Some(current);
                inner.wire = Wire::Status(status);
            })
    }

    /// The state a list asked for is compacted.
    #[must_use]
    pub fn list_expired() -> Self {
        Self::expired(LIST_EXPIRED, None)
    }

    /// The state a watch wanted to begin after is compacted.
    #[must_use]
    pub fn watch_expired() -> Self {
        Self::expired(WATCH_EXPIRED, None)
    }

    /// The state of a continue token is compacted; `token` goes on at a newer one.
    #[must_use]
    pub fn continue_expired(token: Option<String>) -> Self {
        let text = if token.is_some() { INCONSISTENT_CONTINUE } else { CONTINUE_EXPIRED };
        Self::expired(text, token)
    }

    fn expired(text: &str, token: Option<String>) -> Self {
        let mut status = Status::new(410, "Expired", text);
        status.continue_token = token;
        Self::new(ErrorKind::Expired).with(|inner| inner.wire = Wire::Status(status))
    }

    /// The request cannot be meant; `text` says why, and reaches the client.
    #[must_use]
    pub fn bad_request(text: impl Into<String>) -> Self {
        let text = text.into();
        let status = Status::new(400, "BadRequest", text.clone());
        Self::new(ErrorKind::BadRequest).with_message(text).with(|inner| inner.wire = Wire::Status(status))
    }

    /// A resource version in a get or list that is not a number.
    #[must_use]
    pub fn bad_resource_version(error: &InvalidResourceVersion) -> Self {
        Self::bad_request(format!("invalid resource version: {}", field_text(error)))
    }

    /// A resource version of a watch that is not a number.
    #[must_use]
    pub fn invalid_resource_version(error: &InvalidResourceVersion) -> Self {
        let text = field_text(error);
        Self::new(ErrorKind::Invalid)
            .with_message(format!("resource version {} is not a number", quote(&error.text)))
            .with_status_message(text)
    }

    /// A fault on the way to or from storage; `text` is the reference's wording, for the client.
    #[must_use]
    pub fn internal(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal).with_status_message(text)
    }

    /// What is stored at `key` cannot be decoded.
    #[must_use]
    pub fn corrupt(key: impl Into<String>, cause: CodecError) -> Self {
        let text = cause.status_message().to_owned();
        Self::new(ErrorKind::Corrupt).with_key(key).with_status_message(text).with_source(cause)
    }

    /// The object given for `key` cannot be stored.
    #[must_use]
    pub fn unencodable(key: impl Into<String>, cause: CodecError) -> Self {
        let text = cause.status_message().to_owned();
        Self::new(ErrorKind::Unencodable).with_key(key).with_status_message(text).with_source(cause)
    }

    /// Anything else; `text` is for people and for the client.
    #[must_use]
    pub fn other(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(ErrorKind::Other).with_message(text.clone()).with_status_message(text)
    }

    /// The refusal of an update or validation function. Its text reaches the client.
    #[must_use]
    pub fn callback(cause: impl Into<BoxError>) -> Self {
        Self::new(ErrorKind::Callback).with_source(cause)
    }

    /// The refusal of an update or validation function, as a status that reaches the client unchanged.
    #[must_use]
    pub fn from_status(status: Status) -> Self {
        let text = status.message.clone();
        Self::new(ErrorKind::Callback).with_message(text).with(|inner| inner.wire = Wire::Status(status))
    }
}

impl From<InvalidKey> for StorageError {
    fn from(error: InvalidKey) -> Self {
        Self::other(error.to_string())
    }
}

impl From<InvalidContinueToken> for StorageError {
    fn from(error: InvalidContinueToken) -> Self {
        Self::bad_request(format!("invalid continue token: {error}"))
    }
}

fn field_text(error: &InvalidResourceVersion) -> String {
    format!("resourceVersion: Invalid value: {}: {error}", quote(&error.text))
}
