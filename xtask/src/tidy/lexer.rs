//! Rust source with what is not code blanked out, so that a word in a comment or a string is not taken for one in the program.

/// The source with comments and the contents of string and character literals replaced by spaces. Lines stay where they are.
pub(super) fn code_only(source: &str) -> String {
    let mut lexer = Lexer { rest: source, code: String::with_capacity(source.len()) };
    while let Some(next) = lexer.rest.chars().next() {
        lexer.step(next);
    }
    lexer.code
}

struct Lexer<'a> {
    rest: &'a str,
    code: String,
}

impl Lexer<'_> {
    fn step(&mut self, next: char) {
        match next {
            '/' if self.rest.starts_with("//") => self.blank(self.rest.find('\n').unwrap_or(self.rest.len())),
            '/' if self.rest.starts_with("/*") => self.blank(block_comment(self.rest)),
            '"' => self.blank(string(self.rest)),
            '\'' => match character(self.rest) {
                Some(length) => self.blank(length),
                None => self.keep(1),
            },
            'r' if !self.in_word() && raw_string(self.rest).is_some() => {
                self.blank(raw_string(self.rest).unwrap_or(1));
            }
            _ => self.keep(next.len_utf8()),
        }
    }

    /// Whether the last character kept continues into the next one. The `b` and `c` of byte and C strings do not count.
    fn in_word(&self) -> bool {
        let mut kept = self.code.chars().rev();
        match kept.next() {
            Some('b' | 'c') => kept.next().is_some_and(is_word),
            last => last.is_some_and(is_word),
        }
    }

    fn keep(&mut self, length: usize) {
        let (kept, rest) = self.rest.split_at(length);
        self.code.push_str(kept);
        self.rest = rest;
    }

    fn blank(&mut self, length: usize) {
        let (blanked, rest) = self.rest.split_at(length);
        self.code.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
    }
}

/// Whether the character may stand in an identifier.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a block comment, those inside it included.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or("");
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a string literal, quotes included.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of a raw string literal that starts here, if one does.
fn raw_string(text: &str) -> Option<usize> {
    let opening = text.strip_prefix('r')?;
    let hashes = opening.len() - opening.trim_start_matches('#').len();
    opening[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = hashes + 2;
    Some(text[start..].find(&end).map_or(text.len(), |at| start + at + end.len()))
}

/// The length of a character literal that starts here; none if the quote opens a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    match characters.next()?.1 {
        '\\' => {
            characters.next()?;
            characters.find(|(_, c)| *c == '\'').map(|(at, _)| at + 1)
        }
        _ => characters.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, code: &str) {
        let words: Vec<_> = code_only(source).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), code, "from {source:?}");
        assert_eq!(code_only(source).lines().count(), source.lines().count());
    }

    #[test]
    fn comments_are_blanked() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check("//! docs\nfn f() {} /// more", "fn f() {}");
    }

    #[test]
    fn strings_are_blanked() {
        check(r#"a("b \" c") d"#, "a( ) d");
        check(r###"a(r#"b " c"#, br"d", c"e") f"###, "a( , b , c ) f");
        check("var\"x\"", "var");
        check("a(\"b\n c\") d", "a( ) d");
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        check(r#"f('"', '\'', '\u{1F}') g"#, "f( , , ) g");
        check("fn f<'a>(x: &'a str) -> &'static str", "fn f<'a>(x: &'a str) -> &'static str");
    }
}
