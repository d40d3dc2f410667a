//! Which resources a rule is for.

use std::fmt;

/// A resource of a rule as Kubernetes writes it: `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group) or
/// `*.*`.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourcePattern {
    /// The group; empty for the core group, `*` for all.
    pub group: String,
    /// The plural name; `*` for all of the group.
    pub resource: String,
}

impl ResourcePattern {
    /// The pattern of `text`: what stands before the first dot is the resource, what follows the group.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let (resource, group) = text.split_once('.').unwrap_or((text, ""));
        Self { group: group.to_owned(), resource: resource.to_owned() }
    }

    /// Whether it is for this resource.
    #[must_use]
    pub fn matches(&self, group: &str, resource: &str) -> bool {
        self.is_everything() || (self.group == group && (self.resource == "*" || self.resource == resource))
    }

    /// Whether it is `*.*`.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.group == "*" && self.resource == "*"
    }

    /// Whether an earlier rule for `self` would leave nothing to one for `later`.
    pub(super) fn masks(&self, later: &Self) -> bool {
        self.is_everything() || (self.resource == "*" && self.group == later.group)
    }
}

impl fmt::Display for ResourcePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.resource[..], &self.group[..]) {
            ("*", "") => f.write_str("*."),
            (resource, "") => f.write_str(resource),
            (resource, group) => write!(f, "{resource}.{group}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ResourcePattern;

    #[test]
    fn patterns_are_read_matched_and_written() {
        let cases = [
            ("secrets", ("", "secrets"), true),
            ("secrets", ("apps", "secrets"), false),
            ("pandas.awesome.bears.example", ("awesome.bears.example", "pandas"), true),
            ("*.apps", ("apps", "deployments"), true),
            ("*.apps", ("batch", "jobs"), false),
            ("*.", ("", "pods"), true),
            ("*.", ("apps", "deployments"), false),
            ("*.*", ("apps", "deployments"), true),
            ("*.*", ("", "pods"), true),
        ];
        for (text, (group, resource), matches) in cases {
            let pattern = ResourcePattern::parse(text);
            assert_eq!(pattern.matches(group, resource), matches, "{text} and {resource}.{group}");
            assert_eq!(pattern.to_string(), text);
        }
    }
}
