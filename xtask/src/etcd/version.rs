//! Versions of etcd, and which of them will do.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Error, Result, bail};

/// A release of etcd.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

/// The oldest release whose progress notifications can be trusted.
const OLDEST: Version = Version { major: 3, minor: 5, patch: 13 };

/// Which versions will do. By default any that is new enough.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Wanted {
    /// Any release from the oldest supported one on.
    #[default]
    Supported,
    /// A release of this major and minor version.
    Line(u32, u32),
    /// This release.
    Release(Version),
}

impl Wanted {
    /// Whether the version is one of these.
    pub(super) fn accepts(self, version: Version) -> bool {
        version >= OLDEST
            && match self {
                Self::Supported => true,
                Self::Line(major, minor) => (version.major, version.minor) == (major, minor),
                Self::Release(release) => version == release,
            }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Supported => write!(f, "etcd {OLDEST} or newer"),
            Self::Line(major, minor) if (*major, *minor) == (OLDEST.major, OLDEST.minor) => {
                write!(f, "etcd {major}.{minor}, {OLDEST} or newer")
            }
            Self::Line(major, minor) => write!(f, "etcd {major}.{minor}"),
            Self::Release(release) => write!(f, "etcd {release}"),
        }
    }
}

impl FromStr for Wanted {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unprefixed = text.strip_prefix('v').unwrap_or(text);
        let wanted = match unprefixed.split('.').collect::<Vec<_>>()[..] {
            [major, minor] => Self::Line(number(major)?, number(minor)?),
            [_, _, _] => Self::Release(unprefixed.parse()?),
            _ => bail!("`{text}` is neither a line as 3.6 nor a release as 3.5.30"),
        };
        let newest = match wanted {
            Self::Line(major, minor) => Version { major, minor, patch: u32::MAX },
            Self::Release(release) => release,
            Self::Supported => OLDEST,
        };
        if newest < OLDEST {
            bail!("etcd {text} is too old; the oldest supported release is {OLDEST}");
        }
        Ok(wanted)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let [major, minor, patch] = text.split('.').collect::<Vec<_>>()[..] else {
            bail!("`{text}` is not a version of three numbers");
        };
        Ok(Self { major: number(major)?, minor: number(minor)?, patch: number(patch)? })
    }
}

/// The version in what `etcd --version` prints. A suffix as `-rc.0` or `+git` is passed over.
pub(super) fn from_output(text: &str) -> Option<Version> {
    let version = text.lines().find_map(|line| line.strip_prefix("etcd Version:"))?.trim();
    version.split(['-', '+']).next()?.parse().ok()
}

fn number(text: &str) -> Result<u32> {
    text.parse().with_context(|| format!("`{text}` in a version is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(wanted: &str, version: &str) -> bool {
        wanted.parse::<Wanted>().unwrap().accepts(version.parse().unwrap())
    }

    #[test]
    fn a_line_accepts_its_releases_and_a_release_only_itself() {
        assert!(accepts("3.6", "3.6.16"));
        assert!(accepts("v3.6", "3.6.0"));
        assert!(!accepts("3.6", "3.7.0"));
        assert!(accepts("3.5.30", "3.5.30"));
        assert!(!accepts("3.5.30", "3.5.31"));
    }

    #[test]
    fn releases_before_the_oldest_supported_one_are_refused() {
        assert!(!Wanted::default().accepts("3.5.12".parse().unwrap()));
        assert!(Wanted::default().accepts("3.5.13".parse().unwrap()));
        assert!(!accepts("3.5", "3.5.12"));
        let error = "3.4".parse::<Wanted>().unwrap_err().to_string();
        assert_eq!(error, "etcd 3.4 is too old; the oldest supported release is 3.5.13");
        assert!("3.5.12".parse::<Wanted>().is_err());
    }

    #[test]
    fn what_is_no_version_is_named() {
        assert_eq!(
            "3".parse::<Wanted>().unwrap_err().to_string(),
            "`3` is neither a line as 3.6 nor a release as 3.5.30"
        );
        assert_eq!("3.x".parse::<Wanted>().unwrap_err().to_string(), "`x` in a version is not a number");
    }

    #[test]
    fn the_version_is_read_from_the_output_of_etcd() {
        let output = "etcd Version: 3.7.0-rc.0\nGit SHA: Not provided\nGo Version: go1.26.8\n";
        assert_eq!(from_output(output).unwrap().to_string(), "3.7.0");
        assert_eq!(from_output("Go Version: go1.26.8\n"), None);
    }
}
