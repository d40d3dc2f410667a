//! From a store's key to the backend's.

use std::{error::Error, fmt};

use crate::quote;

/// The path under which a store keeps everything, cleaned: it starts and ends with `/`.
///
/// ```
/// use kubestore_core::PathPrefix;
/// let prefix = PathPrefix::new("registry//x/..");
/// assert_eq!(prefix.as_str(), "/registry/");
/// assert_eq!(prefix.prepare("/pods/ns1/a").as_deref(), Ok("/registry/pods/ns1/a"));
/// assert_eq!(prefix.prepare_recursive("pods").as_deref(), Ok("/registry/pods/"));
/// assert!(prefix.prepare("/pods/../secrets/a").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPrefix(String);

impl PathPrefix {
    /// Takes any path; `.` and `..` in it are resolved and never lead above the root.
    #[must_use]
    pub fn new(prefix: &str) -> Self {
        let mut cleaned = clean_absolute(prefix);
        if !cleaned.ends_with('/') {
            cleaned.push('/');
        }
        Self(cleaned)
    }

    /// The prefix, with both slashes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The backend's key of `key`: the prefix, then `key` without its first slash.
    ///
    /// # Errors
    /// The empty key, `/`, and any key with `.` or `..` as a path segment.
    pub fn prepare(&self, key: &str) -> Result<String, InvalidKey> {
        if has_segment(key, "..") || has_segment(key, ".") {
            return Err(InvalidKey { key: key.to_owned(), empty: false });
        }
        if key.is_empty() || key == "/" {
            return Err(InvalidKey { key: key.to_owned(), empty: true });
        }
        let relative = key.strip_prefix('/').unwrap_or(key);
        Ok([self.0.as_str(), relative].concat())
    }

    /// The prefix of everything under `key`: as [`prepare`](Self::prepare), ending in `/`, so that `/a` does not take
    /// in `/ab`.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn prepare_recursive(&self, key: &str) -> Result<String, InvalidKey> {
        let mut prepared = self.prepare(key)?;
        if !prepared.ends_with('/') {
            prepared.push('/');
        }
        Ok(prepared)
    }
}

/// A key that a store does not take.
///
/// `Display` is the wording of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidKey {
    key: String,
    empty: bool,
}

impl InvalidKey {
    /// The key as it came.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.empty { "empty key" } else { "invalid key" };
        write!(f, "{what}: {}", quote(&self.key))
    }
}

impl Error for InvalidKey {}

/// Whether one of the parts between slashes is `segment`.
fn has_segment(key: &str, segment: &str) -> bool {
    key.split('/').any(|part| part == segment)
}

/// The shortest path that names the same place, lexically, below the root.
pub(crate) fn clean_absolute(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    let mut cleaned = String::with_capacity(path.len() + 1);
    for segment in &segments {
        cleaned.push('/');
        cleaned.push_str(segment);
    }
    if cleaned.is_empty() {
        cleaned.push('/');
    }
    cleaned
}
