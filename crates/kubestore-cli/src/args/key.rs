//! A key on the command line.

use std::{convert::Infallible, fmt, str::FromStr};

use kubestore::kv::Revision;

/// `KEY` or `KEY@REVISION`, where `KEY` is a whole key of etcd (it begins with a slash) or `RESOURCE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyArg {
    pub(crate) name: String,
    /// The newest, if none is named.
    pub(crate) revision: Option<Revision>,
}

impl FromStr for KeyArg {
    type Err = Infallible;

    /// Names may have an `@` in them, so only digits after the last one are a revision.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let at = text.rsplit_once('@').filter(|(_, revision)| is_number(revision));
        // A number that no revision can have is above the newest one.
        let revision = |text: &str| Revision(text.parse().unwrap_or(i64::MAX));
        Ok(match at {
            Some((name, number)) => Self { name: name.to_owned(), revision: Some(revision(number)) },
            None => Self { name: text.to_owned(), revision: None },
        })
    }
}

impl fmt::Display for KeyArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.revision {
            Some(revision) => write!(f, "{}@{revision}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_after_the_last_at_are_a_revision() {
        for (text, name, revision) in [
            ("pod/a", "pod/a", None),
            ("pod/a@12", "pod/a", Some(12)),
            ("/registry/roles/x/a@b", "/registry/roles/x/a@b", None),
            ("roles/a@b@7", "roles/a@b", Some(7)),
            ("roles/a@", "roles/a@", None),
            ("pod/a@99999999999999999999", "pod/a", Some(i64::MAX)),
        ] {
            let Ok(key) = text.parse::<KeyArg>();
            assert_eq!(
                (key.name.as_str(), key.revision.map(|revision| revision.0)),
                (name, revision),
                "{text}"
            );
        }
    }
}
