//! From text to value.

use super::{
    cursor::{Cursor, SyntaxError},
    number::parse_number,
};
use crate::value::{Builder, MAX_DEPTH, Value};

/// The value that `text` is, all of it.
pub(crate) fn parse(text: &str) -> Result<Value, SyntaxError> {
    Parser { cursor: Cursor::new(text), builder: Builder::default() }.parse()
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    builder: Builder,
}

impl Parser<'_> {
    fn parse(mut self) -> Result<Value, SyntaxError> {
        loop {
            let Some(mut outermost) = self.value()? else { continue };
            // Everything that ends here.
            loop {
                if let Some(value) = outermost {
                    return match self.cursor.peek_token() {
                        None => Ok(value),
                        Some(_) => self.cursor.error("something follows the value"),
                    };
                }
                let Some(ended) = self.separator()? else { break };
                outermost = ended;
            }
        }
    }

    /// Reads a scalar, an empty container or the beginning of one. `None`: a value must follow. `Some` when it is
    /// complete, with the document if that is complete as well.
    fn value(&mut self) -> Result<Option<Option<Value>>, SyntaxError> {
        let value = match self.cursor.peek_token() {
            Some(b'"') => {
                self.cursor.bump();
                Value::String(self.cursor.string()?.into())
            }
            Some(b'{') => {
                self.open()?;
                self.builder.begin_object();
                if self.cursor.eat(b'}') {
                    return Ok(Some(self.builder.end()));
                }
                self.key()?;
                return Ok(None);
            }
            Some(b'[') => {
                self.open()?;
                self.builder.begin_array();
                return Ok(self.cursor.eat(b']').then(|| self.builder.end()));
            }
            Some(b'-' | b'0'..=b'9') => {
                let (text, integer) = self.cursor.number()?;
                match parse_number(text, integer) {
                    Some(number) => number,
                    None => return self.cursor.error("number out of range before"),
                }
            }
            Some(b't') => self.cursor.literal("true").map(|()| Value::Bool(true))?,
            Some(b'f') => self.cursor.literal("false").map(|()| Value::Bool(false))?,
            Some(b'n') => self.cursor.literal("null").map(|()| Value::Null)?,
            _ => return self.cursor.error("expected a value"),
        };
        Ok(Some(self.builder.value(value)))
    }

    /// Goes past an opening bracket.
    fn open(&mut self) -> Result<(), SyntaxError> {
        if self.builder.depth() == MAX_DEPTH {
            return self.cursor.error("nested too deep");
        }
        self.cursor.bump();
        Ok(())
    }

    fn key(&mut self) -> Result<(), SyntaxError> {
        let key = self.cursor.key()?;
        self.builder.key(key.into());
        Ok(())
    }

    /// Reads what follows a value in a container. `None`: a comma, and the next value must follow. `Some`: the end of the
    /// container, with the document if it was the outermost.
    fn separator(&mut self) -> Result<Option<Option<Value>>, SyntaxError> {
        let in_object = self.builder.in_object();
        match self.cursor.peek_token() {
            Some(b',') => {
                self.cursor.bump();
                if in_object {
                    self.key()?;
                }
                Ok(None)
            }
            Some(byte) if byte == if in_object { b'}' } else { b']' } => {
                self.cursor.bump();
                Ok(Some(self.builder.end()))
            }
            _ => self.cursor.error("expected a comma or the end of an array or object"),
        }
    }
}
