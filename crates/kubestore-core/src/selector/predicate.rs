//! Both selectors together.

use super::{FieldSelector, LabelSelector};
use crate::{Found, Wanted};

/// Which objects are wanted. Plain data: where an object's labels and fields come from is the store's strategy.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Predicate {
    /// On labels.
    pub labels: LabelSelector,
    /// On fields. An absent or unknown field is the empty text.
    pub fields: FieldSelector,
}

impl Predicate {
    /// Both must match.
    #[must_use]
    pub fn new(labels: LabelSelector, fields: FieldSelector) -> Self {
        Self { labels, fields }
    }

    /// Everything matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// What has to be known of an object: one slot for each requirement and term, in their order.
    #[must_use]
    pub fn wanted(&self) -> Wanted {
        Wanted {
            labels: self
                .labels
                .requirements()
                .iter()
                .map(|requirement| requirement.key().to_owned())
                .collect(),
            fields: self.fields.terms().iter().map(|term| term.field().to_owned()).collect(),
        }
    }

    /// Whether an object that answered [`wanted`](Self::wanted) like this matches.
    #[must_use]
    pub fn matches(&self, found: &Found<'_>) -> bool {
        let label = |slot: usize| found.labels.get(slot).and_then(Option::as_deref);
        let field = |slot: usize| found.fields.get(slot).and_then(Option::as_deref).unwrap_or("");
        let labels = self.labels.requirements().iter().enumerate();
        let fields = self.fields.terms().iter().enumerate();
        labels.into_iter().all(|(slot, requirement)| requirement.matches(label(slot)))
            && fields.into_iter().all(|(slot, term)| term.matches(field(slot)))
    }
}
