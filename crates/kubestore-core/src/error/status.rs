//! The error as a Kubernetes client sees it.

/// The failure parts of `metav1.Status`: what an API server sends, and what the recordings of the reference compare.
///
/// The message may quote the object concerned where the reference does; it is for the client of the object, not for logs.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// For people.
    pub message: String,
    /// For programs: `NotFound`, `Expired`, `Timeout`, … or "" where the reference gives none.
    pub reason: String,
    /// HTTP status code.
    pub code: u16,
    /// Details of the reason.
    pub causes: Vec<StatusCause>,
    /// When to try again, in seconds; 0 says nothing.
    pub retry_after_seconds: u32,
    /// In an `Expired` of a paged list: a token that goes on inconsistently.
    pub continue_token: Option<String>,
}

impl Status {
    /// A status with these three and nothing else.
    #[must_use]
    pub fn new(code: u16, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self { message: message.into(), reason: reason.into(), code, ..Self::default() }
    }

    /// Adds a cause.
    #[must_use]
    pub fn with_cause(mut self, kind: impl Into<String>, message: impl Into<String>) -> Self {
        self.causes.push(StatusCause { kind: kind.into(), message: message.into() });
        self
    }

    /// An `InternalError` around `text`, as a watch sends whatever has no status of its own.
    #[must_use]
    pub fn internal(text: &str) -> Self {
        Self::new(500, "InternalError", format!("Internal error occurred: {text}")).with_cause("", text)
    }
}

/// One cause of a [`Status`].
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusCause {
    /// Kubernetes' cause type, such as `ResourceVersionTooLarge`.
    pub kind: String,
    /// Its text.
    pub message: String,
}
