//! Any JSON in the form that Kubernetes gives to custom resources.

use std::{borrow::Cow, ops::Range};

use super::{
    cursor::{Cursor, SyntaxError},
    number::write_float,
    write::write_string,
};

/// The recursion follows the nesting, which is that of somebody's types.
const MAX_DEPTH: usize = 512;

/// Writes an object with its names in order, in the escapes and number forms of the reference, and a newline.
/// Integers stay as they are, even those beyond 64 bits. `supplied` are texts for members that are missing, `null` or
/// empty.
///
/// # Errors
/// `text` is no JSON, not an object, or nested too deep.
pub(crate) fn canonical(text: &str, supplied: &[(&'static str, &str)]) -> Result<Vec<u8>, SyntaxError> {
    let mut writer = Canonical { cursor: Cursor::new(text), out: Vec::with_capacity(text.len() + 64) };
    if writer.cursor.peek_token() != Some(b'{') {
        return writer.cursor.error("expected an object");
    }
    writer.object(supplied, 0)?;
    match writer.cursor.peek_token() {
        None => {
            writer.out.push(b'\n');
            Ok(writer.out)
        }
        Some(_) => writer.cursor.error("something follows the value"),
    }
}

struct Canonical<'a> {
    cursor: Cursor<'a>,
    out: Vec<u8>,
}

/// A member that has been written, and where.
type Written<'a> = (Cow<'a, str>, Range<usize>);

impl Canonical<'_> {
    fn value(&mut self, depth: usize) -> Result<(), SyntaxError> {
        match self.cursor.peek_token() {
            Some(b'{') => self.object(&[], depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => {
                self.cursor.bump();
                let text = self.cursor.string()?;
                write_string(&mut self.out, &text);
                Ok(())
            }
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => {
                let (text, integer) = self.cursor.number()?;
                match text.parse::<f64>() {
                    Ok(number) if !integer && number.is_finite() => write_float(&mut self.out, number),
                    _ => self.out.extend_from_slice(text.as_bytes()),
                }
                Ok(())
            }
        }
    }

    fn word(&mut self, word: &'static str) -> Result<(), SyntaxError> {
        self.cursor.literal(word)?;
        self.out.extend_from_slice(word.as_bytes());
        Ok(())
    }

    /// Goes past an opening bracket.
    fn open(&mut self, bracket: u8, depth: usize) -> Result<(), SyntaxError> {
        if depth == MAX_DEPTH {
            return self.cursor.error("nested too deep");
        }
        self.cursor.bump();
        self.out.push(bracket);
        Ok(())
    }

    fn array(&mut self, depth: usize) -> Result<(), SyntaxError> {
        self.open(b'[', depth)?;
        let mut first = true;
        while !self.cursor.eat(b']') {
            if !first {
                if !self.cursor.eat(b',') {
                    return self.cursor.error("expected a comma or the end of an array");
                }
                self.out.push(b',');
            }
            first = false;
            self.value(depth + 1)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, supplied: &[(&'static str, &str)], depth: usize) -> Result<(), SyntaxError> {
        self.open(b'{', depth)?;
        let mut members: Vec<Written<'_>> = Vec::new();
        let mut first = true;
        while !self.cursor.eat(b'}') {
            if !first && !self.cursor.eat(b',') {
                return self.cursor.error("expected a comma or the end of an object");
            }
            first = false;
            let key = self.cursor.key()?;
            let start = self.out.len();
            write_string(&mut self.out, &key);
            self.out.push(b':');
            let value = self.out.len();
            self.value(depth + 1)?;
            let is_missing = matches!(self.out.get(value..), Some(b"null" | br#""""#));
            if is_missing && supplied.iter().any(|(name, _)| *name == key) {
                self.out.truncate(start);
            } else {
                members.push((key, start..self.out.len()));
            }
        }
        for (name, text) in supplied {
            if !members.iter().any(|(key, _)| key == name) {
                let start = self.out.len();
                write_string(&mut self.out, name);
                self.out.push(b':');
                write_string(&mut self.out, text);
                members.push((Cow::Borrowed(*name), start..self.out.len()));
            }
        }
        self.arrange(members);
        self.out.push(b'}');
        Ok(())
    }

    /// Puts members in order, with commas, where they were written one after the other. Of several with one name the
    /// last stays.
    fn arrange(&mut self, mut members: Vec<Written<'_>>) {
        let Some(start) = members.first().map(|(_, place)| place.start) else { return };
        members.sort_by(|a, b| a.0.cmp(&b.0));
        let written = self.out.split_off(start);
        for (index, (key, place)) in members.iter().enumerate() {
            let is_last = members.get(index + 1).is_none_or(|(next, _)| next != key);
            if is_last {
                if self.out.len() > start {
                    self.out.push(b',');
                }
                self.out.extend_from_slice(&written[place.start - start..place.end - start]);
            }
        }
    }
}
