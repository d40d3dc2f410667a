//! From objects to bytes and back.

use std::{borrow::Cow, error::Error, fmt};

use bytes::Bytes;

use crate::{BoxError, Found, Object, Wanted};

/// How objects of type `T` are written.
///
/// # Contract
/// `encode` and `decode` agree: what `encode` gives, `decode` takes. Encoding is deterministic, since a store finds out by
/// comparing bytes whether an update changes anything.
pub trait Codec<T: Object>: fmt::Debug + Send + Sync + 'static {
    /// The stored form of `object`.
    ///
    /// # Errors
    /// Whatever [`decode`](Self::decode) would refuse is refused here, so that nothing unreadable is ever written.
    fn encode(&self, object: &T) -> Result<Bytes, CodecError>;

    /// The object whose stored form is `data`. Takes the buffer, so that a lazy object may keep it.
    ///
    /// # Errors
    /// The bytes are not an object of this type.
    fn decode(&self, data: Bytes) -> Result<T, CodecError>;

    /// The wanted labels and fields, read from the bytes without building the object. `Ok(None)`: this codec cannot, the
    /// object has to be decoded.
    ///
    /// # Errors
    /// An error that `decode` would give is given here too, or else `Ok(None)` is returned.
    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError>;

    /// Whether stored bytes may be replaced by the encoding of an object that [`decode`](Self::decode) made of them and a
    /// caller then changed. A store asks before it overwrites what it has read. By default they may.
    ///
    /// # Errors
    /// Something in them would be lost, such as a field of a newer release that `T` has no place for.
    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        let _ = stored;
        Ok(())
    }
}

/// An object that cannot be written, or bytes that cannot be read.
///
/// `Display` never shows content of the object: it may be somebody's secret.
#[derive(Debug)]
pub struct CodecError {
    message: Cow<'static, str>,
    reference: Reference,
    readable: bool,
    source: Option<BoxError>,
}

/// The reference's wording, kept out of `Debug` because it may quote the object.
#[derive(Default)]
struct Reference(Option<String>);

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Some(..)" } else { "None" })
    }
}

impl CodecError {
    /// `message` says what is wrong and, where something helps, what.
    #[must_use]
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), reference: Reference(None), readable: false, source: None }
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, cause: impl Into<BoxError>) -> Self {
        self.source = Some(cause.into());
        self
    }

    /// What Kubernetes says in this case, where that is known. It may quote the object, so it is shown to clients (who
    /// may read the object) and nowhere else.
    #[must_use]
    pub fn with_status_message(mut self, text: impl Into<String>) -> Self {
        self.reference = Reference(Some(text.into()));
        self
    }

    /// Says of an object that is not written that it could be read back if it were: refused for the sake of others. A
    /// caller who remembers such an object may still delete what it stands for.
    #[must_use]
    pub fn but_readable(mut self) -> Self {
        self.readable = true;
        self
    }

    /// See [`but_readable`](Self::but_readable).
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.readable
    }

    /// Kubernetes' wording if it was given, else ours.
    #[must_use]
    pub fn status_message(&self) -> &str {
        self.reference.0.as_deref().unwrap_or(&self.message)
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CodecError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|cause| cause as _)
    }
}
