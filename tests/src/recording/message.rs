//! Messages in the notation of the recordings.

use super::Base;

/// How revisions and keys of one scenario are written.
#[derive(Clone, Debug)]
pub(crate) struct Notation {
    pub(crate) base: Base,
    /// The store's path prefix, without the slash at its end; "" for the root.
    pub(crate) prefix: String,
}

/// What stands before revisions in messages: the text before the first, and between the first and the second.
const PLACES: [(&str, Option<&str>); 4] = [
    ("Too large resource version: ", Some(", current: ")),
    ("ResourceVersion in precondition: ", Some(", ResourceVersion in object meta: ")),
    ("modRevision=", None),
    ("failure to version api object (", None),
];

impl Notation {
    /// A message with its revisions relative and its prefix as `<prefix>`.
    pub(crate) fn message(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (first, second) in PLACES {
            text = self.rewrite(&text, first, second);
        }
        self.key(&text)
    }

    /// A text with the prefix as `<prefix>`.
    pub(crate) fn key(&self, text: &str) -> String {
        if self.prefix.is_empty() { text.to_owned() } else { text.replace(&self.prefix, "<prefix>") }
    }

    fn rewrite(&self, text: &str, first: &str, second: Option<&str>) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(position) = rest.find(first) {
            let (before, after) = rest.split_at(position + first.len());
            out.push_str(before);
            rest = after;
            let end = match second {
                Some(second) => rest.find(second),
                None => Some(digits(rest)),
            };
            let Some(end) = end else { continue };
            out.push_str(&self.base.relative_text(&rest[..end]));
            rest = &rest[end..];
            if let Some(second) = second {
                let (between, after) = rest.split_at(second.len());
                out.push_str(between);
                let end = digits(after);
                out.push_str(&self.base.relative_text(&after[..end]));
                rest = &after[end..];
            }
        }
        out + rest
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_and_the_prefix_are_rewritten_where_they_belong() {
        let notation = Notation { base: Base(100), prefix: "/registry-x".to_owned() };
        for (raw, written) in [
            (
                "Timeout: Too large resource version: 105, current: 103",
                "Timeout: Too large resource version: +5, current: +3",
            ),
            (
                "ResourceVersion in precondition: 101, ResourceVersion in object meta: ",
                "ResourceVersion in precondition: +1, ResourceVersion in object meta: ",
            ),
            (
                "ResourceVersion in precondition: x, ResourceVersion in object meta: 104",
                "ResourceVersion in precondition: x, ResourceVersion in object meta: +4",
            ),
            (
                "etcd event received with PrevKv=nil (key=/registry-x/a, modRevision=102, type=DELETE)",
                "etcd event received with PrevKv=nil (key=<prefix>/a, modRevision=+2, type=DELETE)",
            ),
            ("failure to version api object (107) x", "failure to version api object (+7) x"),
            ("nothing 105", "nothing 105"),
        ] {
            assert_eq!(notation.message(raw), written);
        }
    }

    #[test]
    fn the_root_prefix_is_not_rewritten() {
        let notation = Notation { base: Base(1), prefix: String::new() };
        assert_eq!(notation.message("key /pods/a"), "key /pods/a");
    }
}
