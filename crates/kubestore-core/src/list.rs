//! What a list returns.

/// Objects in the order of their keys, all as they stood at one revision.
#[non_exhaustive]
#[derive(Clone)]
pub struct List<T> {
    /// Never more than the limit.
    pub items: Vec<T>,
    /// The revision of the whole list; a watch from here misses nothing.
    pub resource_version: u64,
    /// What to give as [`continue_token`](crate::ListOptions::continue_token) to get the rest.
    pub continue_token: Option<String>,
    /// How many objects are left; only with a token and without selectors, since nobody has looked at them.
    pub remaining_item_count: Option<i64>,
}

impl<T> List<T> {
    /// A whole list.
    #[must_use]
    pub fn new(items: Vec<T>, resource_version: u64) -> Self {
        Self { items, resource_version, continue_token: None, remaining_item_count: None }
    }

    /// The rest is behind `token`.
    #[must_use]
    pub fn continued(mut self, token: Option<String>, remaining: Option<i64>) -> Self {
        self.continue_token = token;
        self.remaining_item_count = remaining;
        self
    }
}

/// No `T: Debug` asked for; the objects are counted, not shown.
impl<T> std::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("List")
            .field("items", &self.items.len())
            .field("resource_version", &self.resource_version)
            .field("continue_token", &self.continue_token)
            .field("remaining_item_count", &self.remaining_item_count)
            .finish()
    }
}

/// A list in parts, in bounded memory. The stream's last part is `End`; a stream without it was cut and the parts are
/// not the whole list.
#[non_exhaustive]
#[derive(Clone)]
pub enum ListPart<T> {
    /// The next objects, in order.
    Items(Vec<T>),
    /// What is known at the end.
    End {
        /// As in [`List::resource_version`].
        resource_version: u64,
        /// As in [`List::continue_token`].
        continue_token: Option<String>,
        /// As in [`List::remaining_item_count`].
        remaining_item_count: Option<i64>,
    },
}

impl<T> std::fmt::Debug for ListPart<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Items(items) => f.debug_tuple("Items").field(&items.len()).finish(),
            Self::End { resource_version, .. } => {
                f.debug_struct("End").field("resource_version", resource_version).finish_non_exhaustive()
            }
        }
    }
}
