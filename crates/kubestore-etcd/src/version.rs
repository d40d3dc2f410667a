//! Which etcd answers progress requests.

/// Whether an etcd of `version` answers a progress request on every watch, and never too early: 3.4 from 3.4.31, and
/// everything from 3.5.13. A version that cannot be read counts as too old.
pub(crate) fn answers_progress_requests(version: &str) -> bool {
    match parse(version) {
        Some((3, 4, patch, final_release)) => patch > 31 || (patch == 31 && final_release),
        Some((3, 5, patch, final_release)) => patch > 13 || (patch == 13 && final_release),
        Some((major, minor, ..)) => (major, minor) > (3, 5),
        None => false,
    }
}

/// Major, minor, patch, and whether it is a release rather than a candidate for one.
fn parse(version: &str) -> Option<(u64, u64, u64, bool)> {
    let (numbers, candidate) = match version.split_once('-') {
        Some((numbers, _)) => (numbers, true),
        None => (version.split('+').next().unwrap_or(version), false),
    };
    let mut parts = numbers.split('.').map(|part| part.parse().ok());
    let version = (parts.next()??, parts.next()??, parts.next()??, !candidate);
    parts.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_off_for_old_unreadable_and_unfinished_versions() {
        for (version, on) in [
            ("3.4.30", false),
            ("3.4.31", true),
            ("3.4.31-rc.0", false),
            ("3.4.40", true),
            ("3.5.0", false),
            ("3.5.12", false),
            ("3.5.13", true),
            ("3.5.13-rc.1", false),
            ("3.5.14-rc.1", true),
            ("3.5.13+k3s1", true),
            ("3.6.0-alpha.0", true),
            ("3.7.3", true),
            ("4.0.0", true),
            ("2.3.8", false),
            ("3.3.99", false),
            ("3.6", false),
            ("v3.6.0", false),
            ("3.6.0.1", false),
            ("", false),
            ("unknown", false),
        ] {
            assert_eq!(answers_progress_requests(version), on, "{version:?}");
        }
    }
}
