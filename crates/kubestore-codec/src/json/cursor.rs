//! Reading JSON piece by piece.

use std::{borrow::Cow, error::Error, fmt};

use super::scan::unescaped_run;

/// Where and why a document is not JSON. Shows no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// From 0.
    pub(crate) offset: usize,
    pub(crate) problem: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.problem, self.offset)
    }
}

impl Error for SyntaxError {}

type Result<T> = std::result::Result<T, SyntaxError>;

/// A place in a document.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn error<T>(&self, problem: &'static str) -> Result<T> {
        let problem = if self.at >= self.text.len() { "unexpected end" } else { problem };
        Err(SyntaxError { offset: self.at, problem })
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space, which stays unread.
    pub(super) fn peek_token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                byte => return byte,
            }
        }
    }

    /// Goes past the byte that was peeked at.
    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    /// Goes past `byte` if it is the next token.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek_token() == Some(byte);
        if is_next {
            self.at += 1;
        }
        is_next
    }

    pub(super) fn literal(&mut self, word: &'static str) -> Result<()> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.error("expected a value");
        }
        self.at += word.len();
        Ok(())
    }

    /// The name of a member and the colon after it.
    pub(super) fn key(&mut self) -> Result<Cow<'a, str>> {
        if !self.eat(b'"') {
            return self.error("expected the name of a member");
        }
        let key = self.string()?;
        if !self.eat(b':') {
            return self.error("expected a colon");
        }
        Ok(key)
    }

    /// The text of a string whose opening quote has been read.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>> {
        let start = self.at;
        self.at += unescaped_run(&self.text.as_bytes()[start..]);
        let plain = &self.text[start..self.at];
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                Ok(Cow::Borrowed(plain))
            }
            Some(b'\\') => self.escaped_string(plain).map(Cow::Owned),
            _ => self.error("control character in a string"),
        }
    }

    #[cold]
    fn escaped_string(&mut self, before: &str) -> Result<String> {
        let mut out = String::with_capacity(before.len() + 32);
        out.push_str(before);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                _ => return self.error("control character in a string"),
            }
            let start = self.at;
            self.at += unescaped_run(&self.text.as_bytes()[start..]);
            out.push_str(&self.text[start..self.at]);
        }
    }

    /// The character of an escape whose backslash has been read. Half a surrogate pair becomes U+FFFD.
    fn escape(&mut self) -> Result<char> {
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let first = self.hex4()?;
                return Ok(self.unit_to_char(first));
            }
            _ => return self.error("unknown escape in a string"),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unit_to_char(&mut self, first: u16) -> char {
        if let Ok(c) = char::try_from(u32::from(first)) {
            return c;
        }
        let mut ahead = Self { text: self.text, at: self.at };
        if first < 0xDC00 && ahead.text.as_bytes()[ahead.at..].starts_with(br"\u") {
            ahead.at += 2;
            let second = ahead.hex4().unwrap_or(0);
            if let Some(Ok(c)) = char::decode_utf16([first, second]).next() {
                self.at = ahead.at;
                return c;
            }
        }
        char::REPLACEMENT_CHARACTER
    }

    fn hex4(&mut self) -> Result<u16> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(byte @ b'0'..=b'9') => byte - b'0',
                Some(byte @ b'a'..=b'f') => byte - b'a' + 10,
                Some(byte @ b'A'..=b'F') => byte - b'A' + 10,
                _ => return self.error("expected four hexadecimal digits"),
            };
            unit = (unit << 4) | u16::from(digit);
            self.at += 1;
        }
        Ok(unit)
    }

    /// The text of a number, and whether it has neither fraction nor exponent.
    pub(super) fn number(&mut self) -> Result<(&'a str, bool)> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.error("expected a value"),
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.at += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Ok((&self.text[start..self.at], integer))
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<()> {
        let start = self.at;
        self.digits();
        if self.at == start { self.error("expected a digit") } else { Ok(()) }
    }
}
