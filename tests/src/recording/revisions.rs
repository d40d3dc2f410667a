//! Revisions relative to where a scenario began.

/// The backend's revision when a scenario began; `+N` stands for N above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Base(pub(crate) i64);

impl Base {
    /// The notation for a revision.
    pub(crate) fn relative(self, revision: i64) -> String {
        format!("+{}", revision - self.0)
    }

    /// The notation for a decimal; zero, the empty text and whatever is no revision stay.
    pub(crate) fn relative_text(self, text: &str) -> String {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<i64>() {
            Ok(revision) if digits && revision > 0 => self.relative(revision),
            _ => text.to_owned(),
        }
    }

    /// The decimal that `+N` stands for; everything else stays.
    pub(crate) fn absolute_text(self, text: &str) -> String {
        match text.strip_prefix('+').map(str::parse::<i64>) {
            Some(Ok(offset)) => (self.0 + offset).to_string(),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_revisions_are_rewritten() {
        let base = Base(10);
        for (absolute, relative) in [("12", "+2"), ("7", "+-3"), ("10", "+0")] {
            assert_eq!(base.relative_text(absolute), relative);
            assert_eq!(base.absolute_text(relative), absolute);
        }
        for text in ["", "0", "00", "abc", "-1", "18446744073709551615"] {
            assert_eq!(base.relative_text(text), text);
            assert_eq!(base.absolute_text(text), text);
        }
        assert_eq!(base.relative_text("9223372036854775807"), "+9223372036854775797");
    }
}
