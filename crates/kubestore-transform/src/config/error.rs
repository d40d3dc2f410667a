//! What is wrong with a configuration.

use std::{error::Error, fmt};

use crate::BoxError;

/// A configuration that cannot be used, with everything that is wrong with it.
///
/// No secret is shown, nor any text from a place where a secret may stand.
#[derive(Debug)]
pub struct ConfigError {
    name: String,
    problems: Vec<ConfigProblem>,
    source: Option<BoxError>,
}

/// One thing that is wrong.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The field, for example `resources[0].providers[1].aesgcm.keys[0].secret`; empty for the file as a whole.
    pub path: String,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl ConfigError {
    pub(super) fn new(name: &str, problems: Vec<ConfigProblem>) -> Self {
        Self { name: name.to_owned(), problems, source: None }
    }

    /// Something is wrong with the file as a whole.
    pub(super) fn whole(name: &str, message: impl Into<String>) -> Self {
        Self::new(name, vec![ConfigProblem { path: String::new(), message: message.into() }])
    }

    pub(super) fn with_source(mut self, cause: impl Into<BoxError>) -> Self {
        self.source = Some(cause.into());
        self
    }

    /// The file, or the name that was given to the text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Everything that is wrong, in the order of the file; at least one.
    #[must_use]
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "encryption configuration {}: ", self.name)?;
        for (number, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if number == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|cause| cause as _)
    }
}
