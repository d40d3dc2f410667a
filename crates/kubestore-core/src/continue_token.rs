//! Continue tokens: where a paged list goes on.

use std::{borrow::Cow, error::Error, fmt, fmt::Write as _};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use base64::{
    alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::key::clean_absolute;

const VERSION: &str = "meta.k8s.io/v1";

/// Where a list with a limit left off: the next key, and the revision of all its pages.
///
/// The encoded form is Kubernetes', byte for byte: JSON in URL-safe base64 without padding.
///
/// ```
/// use kubestore_core::ContinueToken;
/// let token = ContinueToken::encode(b"/registry/pods/ns1/a\0", "/registry/pods/", 5).unwrap();
/// let read = ContinueToken::decode(&token, "/registry/pods/").unwrap();
/// assert_eq!((read.start_key.as_str(), read.revision), ("/registry/pods/ns1/a\0", 5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContinueToken {
    /// The backend's first key of the next page.
    pub start_key: String,
    /// The revision to read at; below 0 it is the newest, at the price of an inconsistent list. Never 0.
    pub revision: i64,
}

impl ContinueToken {
    /// The token of a list of everything under `prefix` that goes on with `next_key`.
    ///
    /// # Errors
    /// `next_key` is not under `prefix`.
    pub fn encode(next_key: &[u8], prefix: &str, revision: i64) -> Result<String, InvalidContinueToken> {
        let start = next_key.strip_prefix(prefix.as_bytes()).filter(|_| !prefix.is_empty());
        let start = start.ok_or(InvalidContinueToken::KeyOutsidePrefix)?;
        let mut json = format!(r#"{{"v":"{VERSION}","rv":{revision},"start":"#);
        push_json_string(&mut json, start);
        json.push('}');
        Ok(URL_SAFE_NO_PAD.encode(json))
    }

    /// Reads a token given for a list of everything under `prefix`.
    ///
    /// # Errors
    /// It is no token, one of another version, or one that would lead outside of `prefix`.
    pub fn decode(token: &str, prefix: &str) -> Result<Self, InvalidContinueToken> {
        let json = decode_base64(token)?;
        let json = replace_lone_surrogates(&lossy_utf8(&json));
        let fields: Fields = serde_json::from_str(&json).map_err(InvalidContinueToken::malformed)?;
        if fields.version != VERSION {
            return Err(InvalidContinueToken::UnknownVersion(fields.version));
        }
        if fields.revision == 0 {
            return Err(InvalidContinueToken::NoRevision);
        }
        if fields.start.is_empty() {
            return Err(InvalidContinueToken::NoStart);
        }
        let absolute = if fields.start.starts_with('/') {
            Cow::Borrowed(fields.start.as_str())
        } else {
            Cow::Owned(format!("/{}", fields.start))
        };
        if clean_absolute(&absolute) != absolute {
            return Err(InvalidContinueToken::BadStart(fields.start));
        }
        Ok(Self { start_key: [prefix, &absolute[1..]].concat(), revision: fields.revision })
    }
}

/// A continue token that cannot be used, or cannot be made.
///
/// `Display` is the wording of the reference, which goes into Kubernetes' messages.
#[derive(Debug)]
#[non_exhaustive]
pub enum InvalidContinueToken {
    /// Its start leads out of the list's prefix.
    BadStart(String),
    /// The next key is not under the list's prefix.
    KeyOutsidePrefix,
    /// Neither base64 nor JSON of the right shape.
    Malformed(Box<dyn Error + Send + Sync>),
    /// Its revision is 0 or missing.
    NoRevision,
    /// Its start is empty or missing.
    NoStart,
    /// A version that this release does not know.
    UnknownVersion(String),
}

impl InvalidContinueToken {
    fn malformed(cause: impl Error + Send + Sync + 'static) -> Self {
        Self::Malformed(Box::new(cause))
    }
}

impl fmt::Display for InvalidContinueToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NOT_VALID: &str = "continue key is not valid";
        match self {
            Self::BadStart(start) => write!(f, "{NOT_VALID}: {start}"),
            Self::KeyOutsidePrefix => {
                f.write_str("unable to encode next field: the key and key prefix do not match")
            }
            Self::Malformed(cause) => write!(f, "{NOT_VALID}: {cause}"),
            Self::NoRevision => {
                write!(f, "{NOT_VALID}: incorrect encoded start resourceVersion (version {VERSION})")
            }
            Self::NoStart => write!(f, "{NOT_VALID}: encoded start key empty (version {VERSION})"),
            Self::UnknownVersion(version) => {
                write!(f, "{NOT_VALID}: server does not recognize this encoded version {version}")
            }
        }
    }
}

// The cause is part of the text, as clients have always seen it, so it is not given as a source too.
impl Error for InvalidContinueToken {}

/// The token's JSON. Names in any case, the last of several, unknown ones ignored, null as missing: as Go reads it.
#[derive(Default)]
struct Fields {
    version: String,
    revision: i64,
    start: String,
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a continue token")
            }

            fn visit_unit<E>(self) -> Result<Fields, E> {
                Ok(Fields::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some(name) = map.next_key::<Cow<'_, str>>()? {
                    // Go takes the long s for an s.
                    match name.replace('ſ', "s").to_ascii_lowercase().as_str() {
                        "v" => set_unless_null(&mut fields.version, map.next_value()?),
                        "rv" => {
                            let revision: Option<Integer> = map.next_value()?;
                            set_unless_null(&mut fields.revision, revision.map(|Integer(revision)| revision));
                        }
                        "start" => set_unless_null(&mut fields.start, map.next_value()?),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_any(FieldsVisitor)
    }
}

/// An integer as Go reads it: `-0` is one.
struct Integer(i64);

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let zero = number.as_f64().filter(|float| *float == 0.0).map(|_| 0);
        match number.as_i64().or(zero) {
            Some(integer) => Ok(Self(integer)),
            None => Err(serde::de::Error::custom("the revision is not an integer of 64 bits")),
        }
    }
}

fn set_unless_null<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// URL-safe, no padding; line breaks are skipped and stray last bits ignored, as Go does.
fn decode_base64(token: &str) -> Result<Vec<u8>, InvalidContinueToken> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::URL_SAFE,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::RequireNone),
    );
    let text: Cow<'_, str> = if token.contains(['\r', '\n']) {
        Cow::Owned(token.replace(['\r', '\n'], ""))
    } else {
        Cow::Borrowed(token)
    };
    LENIENT.decode(text.as_bytes()).map_err(InvalidContinueToken::malformed)
}

/// Each byte that is not part of UTF-8 becomes a U+FFFD of its own.
fn lossy_utf8(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '\u{fffd}'));
    }
    text
}

/// `\ud800` without its other half becomes `\ufffd`, which is how Go reads it; other JSON readers refuse it.
fn replace_lone_surrogates(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(position) = rest.find('\\') {
        out.push_str(&rest[..position]);
        rest = &rest[position..];
        let taken = match escaped_unit(rest) {
            Some(0xd800..=0xdbff) if matches!(escaped_unit(&rest[6..]), Some(0xdc00..=0xdfff)) => 12,
            Some(0xd800..=0xdfff) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

/// The code unit of a `\uXXXX` at the start of `text`.
fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

/// A JSON string with the escapes of Go's encoder: HTML characters, control characters, U+2028 and U+2029, and U+FFFD
/// for each byte that is not UTF-8.
fn push_json_string(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
                _ => out.push(c),
            }
        }
        for _ in chunk.invalid() {
            out.push_str("\\ufffd");
        }
    }
    out.push('"');
}
