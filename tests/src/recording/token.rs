//! Continue tokens, read and written apart from the code under test.

use anyhow::{Context, Result};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};

use super::{Base, json::push_string};

const VERSION: &str = "meta.k8s.io/v1";

/// A continue token: base64url, without padding, of `{"v":…,"rv":…,"start":…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) version: String,
    pub(crate) revision: i64,
    pub(crate) start: String,
}

impl Token {
    /// The encoded form, byte for byte as the reference writes it.
    pub(crate) fn encode(&self) -> String {
        let mut json = String::from(r#"{"v":"#);
        push_string(&mut json, &self.version);
        json.push_str(&format!(r#","rv":{},"start":"#, self.revision));
        push_string(&mut json, &self.start);
        json.push('}');
        URL_SAFE_NO_PAD.encode(json)
    }

    /// The token that a continue argument with `rv`, `start` and perhaps `v` spells out.
    pub(crate) fn from_argument(fields: &Map<String, Value>, base: Base) -> Result<Self> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let revision = match fields.get("rv") {
            Some(Value::String(text)) => {
                base.absolute_text(text).parse().with_context(|| format!("rv {text:?}"))?
            }
            Some(number) => number.as_i64().with_context(|| format!("rv {number}"))?,
            None => 0,
        };
        let start = text("start").unwrap_or_default().to_owned();
        Ok(Self { version: text("v").unwrap_or(VERSION).to_owned(), revision, start })
    }

    fn decode(token: &str) -> Option<Self> {
        let fields: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        Some(Self {
            version: fields["v"].as_str()?.to_owned(),
            revision: fields["rv"].as_i64()?,
            start: fields["start"].as_str()?.to_owned(),
        })
    }

    /// How a token is recorded: decoded, or null for none. A token that is not exactly the encoding of what it says is
    /// shown as it is, which equals no recording.
    pub(crate) fn recorded(token: Option<&str>, base: Base) -> Value {
        let Some(token) = token.filter(|token| !token.is_empty()) else { return Value::Null };
        match Self::decode(token) {
            Some(decoded) if decoded.encode() == token => decoded.to_value(base),
            _ => json!({ "raw": token }),
        }
    }

    fn to_value(&self, base: Base) -> Value {
        let revision =
            if self.revision > 0 { json!(base.relative(self.revision)) } else { json!(self.revision) };
        let mut value = json!({"rv": revision, "start": self.start});
        if self.version != VERSION {
            value["v"] = json!(self.version);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_the_reference_s() {
        let token = Token { version: VERSION.to_owned(), revision: 7, start: "ns1/<a>\0".to_owned() };
        let json = r#"{"v":"meta.k8s.io/v1","rv":7,"start":"ns1/\u003ca\u003e\u0000"}"#;
        assert_eq!(token.encode(), URL_SAFE_NO_PAD.encode(json));
        assert_eq!(
            Token::recorded(Some(&token.encode()), Base(2)),
            json!({"rv": "+5", "start": "ns1/<a>\0"})
        );
    }

    #[test]
    fn another_encoding_of_the_same_token_is_told_apart() {
        let token = URL_SAFE_NO_PAD.encode(r#"{"rv":7,"v":"meta.k8s.io/v1","start":"a"}"#);
        assert_eq!(Token::recorded(Some(&token), Base(0)), json!({ "raw": token }));
        assert_eq!(Token::recorded(None, Base(0)), Value::Null);
    }
}
