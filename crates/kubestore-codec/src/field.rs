//! Paths of fields as selectors name them.

/// A field path such as `spec.nodeName`, split at the dots. A name with a dot in it cannot be reached.
#[derive(Clone, Copy)]
pub(crate) struct FieldPath<'p>(&'p str);

impl<'p> FieldPath<'p> {
    pub(crate) fn new(path: &'p str) -> Self {
        Self(path)
    }

    pub(crate) fn segments(self) -> impl Iterator<Item = &'p str> {
        self.0.split('.')
    }

    /// Whether it is one of the two fields that every object has.
    pub(crate) fn is_metadata(self) -> bool {
        matches!(self.0, "metadata.name" | "metadata.namespace")
    }

    /// Whether only text counts. The reference reads these three as text and takes anything else as absent; of other
    /// fields, truth values and numbers count as JSON writes them.
    pub(crate) fn text_only(self) -> bool {
        matches!(self.0, "metadata.name" | "metadata.namespace" | "spec.nodeName")
    }
}
