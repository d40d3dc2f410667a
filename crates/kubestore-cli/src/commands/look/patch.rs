//! What is different between two objects, line by line.

use std::time::Duration;

use similar::TextDiff;

/// How long is thought about the shortest difference of two large objects.
const PATIENCE: Duration = Duration::from_secs(2);

/// A unified diff, "" if the texts are the same.
pub(super) fn unified(before: (&str, &str), after: (&str, &str)) -> String {
    let ((before_name, before), (after_name, after)) = (before, after);
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    diff.unified_diff().context_radius(3).header(before_name, after_name).to_string()
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn only_what_is_different_is_shown_with_its_surroundings() {
        let (before, after) = ("a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n", "a: 1\nb: 2\nc: 3\nd: 4\ne: 6\n");
        assert_eq!(
            unified(("x@1", before), ("x@2", after)),
            "--- x@1\n+++ x@2\n@@ -2,4 +2,4 @@\n b: 2\n c: 3\n d: 4\n-e: 5\n+e: 6\n"
        );
        assert_eq!(unified(("x", before), ("y", before)), "");
    }
}
