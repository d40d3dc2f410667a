//! The grammar of label selectors.

use super::label::{LabelOperator, LabelRequirement};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Symbol(&'static str),
}

/// Longest first, so that `==` is not two `=`.
const SYMBOLS: [&str; 9] = ["!=", "==", "=", "!", "(", ")", ",", ">", "<"];

/// Reads a whole selector.
pub(super) fn requirements(text: &str) -> Result<Vec<LabelRequirement>, String> {
    let mut parser = Parser { tokens: tokens(text), position: 0 };
    let mut requirements = Vec::new();
    if parser.peek().is_none() {
        return Ok(requirements);
    }
    loop {
        requirements.push(parser.requirement()?);
        match parser.next() {
            None => return Ok(requirements),
            Some(Token::Symbol(",")) => {}
            Some(other) => {
                return Err(format!("after a requirement stands {}, expected ','", show(Some(&other))));
            }
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
        let length = match symbol {
            Some(symbol) => {
                tokens.push(Token::Symbol(symbol));
                symbol.len()
            }
            None => {
                let end = rest.find(|c| is_space(c) || "=!(),><".contains(c)).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..end].to_owned()));
                end
            }
        };
        rest = rest[length..].trim_start_matches(is_space);
    }
    tokens
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn show(token: Option<&Token>) -> String {
    match token {
        None => "the end".to_owned(),
        Some(Token::Word(word)) => format!("{word:?}"),
        Some(Token::Symbol(symbol)) => format!("{symbol:?}"),
    }
}

struct Parser {
    tokens: Vec<Token>,
    position: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.position).cloned();
        self.position += 1;
        token
    }

    fn requirement(&mut self) -> Result<LabelRequirement, String> {
        let absent = self.peek() == Some(&Token::Symbol("!"));
        if absent {
            self.position += 1;
        }
        let key = match self.next() {
            Some(Token::Word(word)) => word,
            other => return Err(format!("found {}, expected a label key", show(other.as_ref()))),
        };
        let at_end = matches!(self.peek(), None | Some(Token::Symbol(",")));
        if absent {
            return LabelRequirement::new(&key, LabelOperator::DoesNotExist, Vec::new());
        }
        if at_end {
            return LabelRequirement::new(&key, LabelOperator::Exists, Vec::new());
        }
        let (operator, values) = self.comparison(&key)?;
        LabelRequirement::new(&key, operator, values)
    }

    fn comparison(&mut self, key: &str) -> Result<(LabelOperator, Vec<String>), String> {
        let token = self.next();
        let operator = match &token {
            Some(Token::Symbol("=" | "==")) => LabelOperator::In,
            Some(Token::Symbol("!=")) => LabelOperator::NotIn,
            Some(Token::Symbol(">")) => LabelOperator::GreaterThan,
            Some(Token::Symbol("<")) => LabelOperator::LessThan,
            Some(Token::Word(word)) if word == "in" => return Ok((LabelOperator::In, self.values(key)?)),
            Some(Token::Word(word)) if word == "notin" => {
                return Ok((LabelOperator::NotIn, self.values(key)?));
            }
            other => {
                let found = show(other.as_ref());
                return Err(format!(
                    "after key {key:?} stands {found}, expected =, ==, !=, >, <, in or notin"
                ));
            }
        };
        Ok((operator, vec![self.value()?]))
    }

    /// One value, which may be empty.
    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            None | Some(Token::Symbol("," | ")")) => Ok(String::new()),
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.position += 1;
                Ok(word)
            }
            other => Err(format!("found {}, expected a value", show(other))),
        }
    }

    /// Values in parentheses, each of which may be empty.
    fn values(&mut self, key: &str) -> Result<Vec<String>, String> {
        if self.next() != Some(Token::Symbol("(")) {
            return Err(format!("expected '(' before the values of {key:?}"));
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value()?);
            match self.next() {
                Some(Token::Symbol(")")) => return Ok(values),
                Some(Token::Symbol(",")) => {}
                other => return Err(format!("found {}, expected ',' or ')'", show(other.as_ref()))),
            }
        }
    }
}
