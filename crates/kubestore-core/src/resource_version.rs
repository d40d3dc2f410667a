//! Resource versions as text.

use std::{error::Error, fmt};

use crate::quote;

/// A resource version that is not an unsigned 64-bit decimal.
///
/// `Display` is the wording of the reference, which goes into Kubernetes' messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidResourceVersion {
    /// The text as it came.
    pub text: String,
    /// All digits, but above 2^64 − 1.
    pub out_of_range: bool,
}

impl fmt::Display for InvalidResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = if self.out_of_range { "value out of range" } else { "invalid syntax" };
        write!(f, "strconv.ParseUint: parsing {}: {why}", quote(&self.text))
    }
}

impl Error for InvalidResourceVersion {}

/// The number of a resource version; 0 for "" and "0", which both mean "unset" or "any".
///
/// # Errors
/// Anything but ASCII digits, and what does not fit 64 bits.
///
/// ```
/// use kubestore_core::parse_resource_version;
/// assert_eq!(parse_resource_version("007"), Ok(7));
/// assert_eq!(parse_resource_version(""), Ok(0));
/// assert!(parse_resource_version("+1").is_err());
/// ```
pub fn parse_resource_version(text: &str) -> Result<u64, InvalidResourceVersion> {
    if text.is_empty() {
        return Ok(0);
    }
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if digits => Ok(number),
        _ => Err(InvalidResourceVersion { text: text.to_owned(), out_of_range: digits }),
    }
}
