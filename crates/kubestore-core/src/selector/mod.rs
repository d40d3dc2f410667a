//! Selectors: which objects a list or watch wants.

mod field;
mod label;
mod parse;
mod predicate;

use std::{error::Error, fmt};

pub use field::{FieldSelector, FieldTerm};
pub use label::{LabelOperator, LabelRequirement, LabelSelector};
pub use predicate::Predicate;

/// A selector that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidSelector {
    /// The whole selector.
    pub selector: String,
    /// What is wrong with it, and what is expected.
    pub reason: String,
}

impl fmt::Display for InvalidSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "selector {:?} cannot be read: {}", self.selector, self.reason)
    }
}

impl Error for InvalidSelector {}
