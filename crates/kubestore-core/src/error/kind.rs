//! What went wrong.

/// What went wrong with a storage operation, as far as a caller can act on it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request cannot be meant: a malformed resource version, continue token or combination of both.
    BadRequest,
    /// An update or validation function refused; its error or status is passed on unchanged.
    Callback,
    /// What is stored cannot be decoded.
    Corrupt,
    /// The resource version or continue token is compacted. List again; a continue token may come with the error.
    Expired,
    /// A fault on the way to or from storage: above all, a value that cannot be decrypted.
    Internal,
    /// A resource version of a watch that is not a number.
    Invalid,
    /// A precondition does not hold.
    InvalidObject,
    /// The object exists already.
    KeyExists,
    /// The object does not exist.
    KeyNotFound,
    /// The backend has no space left for writes; reads and deletions work.
    NoSpace,
    /// Anything else: a key that is not taken, a fault of the backend.
    Other,
    /// A write was sent and its answer never came: it may have been applied. Read before you write again.
    OutcomeUnknown,
    /// The backend lets this user not do that, or does not know the user.
    PermissionDenied,
    /// The object is larger than the backend takes.
    RequestTooLarge,
    /// The object was changed meanwhile.
    ResourceVersionConflict,
    /// The operation did not end in its time.
    Timeout,
    /// The resource version asked for has not happened yet. Retry after a moment.
    TooLargeResourceVersion,
    /// The object given cannot be stored: its codec refuses it.
    Unencodable,
    /// The backend could not be reached.
    Unreachable,
    /// The backend or the store's configuration has no such operation.
    Unsupported,
}

impl ErrorKind {
    /// Whether the same call may succeed later without anybody's help.
    ///
    /// [`OutcomeUnknown`](Self::OutcomeUnknown) is not: a blind repetition may apply a write twice.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Unreachable | Self::Timeout | Self::TooLargeResourceVersion)
    }

    /// The reference's number and text of its storage errors.
    pub(super) const fn storage_code(self) -> Option<(u8, &'static str)> {
        Some(match self {
            Self::KeyNotFound => (1, "key not found"),
            Self::KeyExists => (2, "key exists"),
            Self::ResourceVersionConflict => (3, "resource version conflicts"),
            Self::InvalidObject => (4, "invalid object"),
            Self::Unreachable => (5, "server unreachable"),
            Self::Timeout => (6, "request timeout"),
            _ => return None,
        })
    }

    /// Reason and HTTP code that an API server answers with.
    pub(super) const fn reason_and_code(self) -> (&'static str, u16) {
        match self {
            Self::BadRequest | Self::Unencodable => ("BadRequest", 400),
            Self::PermissionDenied => ("Forbidden", 403),
            Self::KeyNotFound => ("NotFound", 404),
            Self::KeyExists => ("AlreadyExists", 409),
            Self::InvalidObject | Self::ResourceVersionConflict => ("Conflict", 409),
            Self::Expired => ("Expired", 410),
            Self::RequestTooLarge => ("RequestEntityTooLarge", 413),
            Self::Invalid => ("Invalid", 422),
            Self::Timeout | Self::TooLargeResourceVersion => ("Timeout", 504),
            Self::Unreachable => ("ServiceUnavailable", 503),
            Self::NoSpace | Self::Internal | Self::Corrupt | Self::OutcomeUnknown => ("InternalError", 500),
            Self::Callback | Self::Other | Self::Unsupported => ("", 500),
        }
    }

    /// What happened, for people.
    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::BadRequest => "the request cannot be meant",
            Self::Callback => "the caller's function refused",
            Self::Corrupt => "the stored value cannot be decoded",
            Self::Expired => "the resource version is compacted; list again",
            Self::Internal => "the value cannot be transformed",
            Self::Invalid => "the resource version is not a number",
            Self::InvalidObject => "a precondition does not hold",
            Self::KeyExists => "the object exists already",
            Self::KeyNotFound => "there is no such object",
            Self::NoSpace => "the backend has no space left; free some, then retry",
            Self::Other => "the operation failed",
            Self::OutcomeUnknown => {
                "the answer was lost and the write may have happened; read before writing again"
            }
            Self::PermissionDenied => "the backend refuses the user",
            Self::RequestTooLarge => "the object is larger than the backend takes",
            Self::ResourceVersionConflict => "the object was changed meanwhile; read it again",
            Self::Timeout => "it did not end in its time; retry",
            Self::TooLargeResourceVersion => {
                "the resource version has not happened yet; retry after a moment"
            }
            Self::Unencodable => "the object cannot be stored",
            Self::Unreachable => "the backend could not be reached; retry",
            Self::Unsupported => "this store has no such operation",
        }
    }
}
