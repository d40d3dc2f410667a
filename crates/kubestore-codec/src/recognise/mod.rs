//! Stored values as people hand them over: wrapped by a tool, or damaged on the way.

mod etcdctl;
mod repair;
mod text;

use std::{borrow::Cow, fmt};

use crate::sniff::{Encoding, sniff};

/// A stored value, out of whatever it came in. See [`recognise`].
///
/// `Debug` shows no content.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recognised<'a> {
    /// The value as etcd has it, as far as that can be told.
    pub value: Cow<'a, [u8]>,
    /// What it is, by its first bytes.
    pub encoding: Encoding,
    /// Its key, where that came along.
    pub key: Option<Cow<'a, [u8]>>,
    /// What was taken off, the outermost first.
    pub wrappings: Vec<Wrapping>,
    /// What has happened to it, for a warning.
    pub damage: Option<Damage>,
}

/// Something around a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrapping {
    /// The output of `etcdctl get -w json`.
    EtcdctlJson,
    /// The output of `etcdctl get`: the key on a line of its own, the value, and a line feed.
    EtcdctlText,
    /// A line feed at the end that is not part of the value, as of `etcdctl get --print-value-only`.
    LineFeed,
    /// Base64 of either alphabet, with or without padding and white space. Values that were once written through
    /// etcd's second API are stored so.
    Base64,
    /// Hexadecimal digits, or the `\x6b\x38` of `etcdctl get --hex`.
    Hex,
    /// Quotation marks.
    Quotes,
    /// UTF-16, as some shells write redirected output.
    Utf16,
}

/// Something that happened to a value on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Every line feed had become carriage return and line feed. This is undone in the value.
    LineEndings,
    /// A program took the value for text and put U+FFFD in place of what is not UTF-8. It cannot be undone.
    Replaced,
    /// The value does not hold together, such as by its lengths: a part is missing or was changed.
    Inconsistent,
}

impl fmt::Debug for Recognised<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recognised")
            .field("value", &format_args!("{} bytes", self.value.len()))
            .field("encoding", &self.encoding)
            .field("has_key", &self.key.is_some())
            .field("wrappings", &self.wrappings)
            .field("damage", &self.damage)
            .finish()
    }
}

impl fmt::Display for Wrapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EtcdctlJson => "JSON of etcdctl",
            Self::EtcdctlText => "key and value of etcdctl",
            Self::LineFeed => "line feed at the end",
            Self::Base64 => "base64",
            Self::Hex => "hexadecimal",
            Self::Quotes => "quotation marks",
            Self::Utf16 => "UTF-16",
        })
    }
}

/// Says what happened, and how to avoid it.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LineEndings => {
                "every line feed had become carriage return and line feed, which was undone: read the value without a \
                 terminal in between (no `-t`), or as `etcdctl get -w json`"
            }
            Self::Replaced => {
                "bytes that are not UTF-8 were replaced, which cannot be undone: read the value again, as \
                 `etcdctl get -w json`"
            }
            Self::Inconsistent => {
                "the value does not hold together, so that a part is missing or was changed: read it again, as \
                 `etcdctl get -w json`"
            }
        })
    }
}

/// Finds stored values in what somebody has got hold of: a file, the output of a tool, a terminal's clipboard.
///
/// There is one for each key in `etcdctl get -w json`, none where that has no keys, and one in everything else. Bytes in which
/// nothing is recognised come back as they are, as [`Encoding::Unknown`].
///
/// ```
/// use kubestore_codec::{Damage, Encoding, Wrapping, recognise};
///
/// // {"kvs":[{"key":"/r","value":"k8s\0\r\n\r\n…"}]}: read through a terminal before it was wrapped.
/// let found = recognise(br#"{"kvs":[{"key":"L3I=","value":"azhzAA0KAw0KAXY="}],"count":1}"#);
/// assert_eq!(found[0].key.as_deref(), Some(&b"/r"[..]));
/// assert_eq!(found[0].encoding, Encoding::Protobuf);
/// assert_eq!(*found[0].value, *b"k8s\0\n\x03\n\x01v");
/// assert_eq!(found[0].wrappings, [Wrapping::EtcdctlJson]);
/// assert_eq!(found[0].damage, Some(Damage::LineEndings));
/// ```
#[must_use]
pub fn recognise(data: &[u8]) -> Vec<Recognised<'_>> {
    match text::utf16(data) {
        Some(text) => inside(Wrapping::Utf16, recognise_bytes(text.as_bytes())),
        None => recognise_bytes(data),
    }
}

fn recognise_bytes(data: &[u8]) -> Vec<Recognised<'_>> {
    let Some(pairs) = etcdctl::json(data) else { return vec![one(data.into())] };
    let values =
        pairs.into_iter().map(|(key, value)| Recognised { key: Some(key.into()), ..one(value.into()) });
    inside(Wrapping::EtcdctlJson, values.collect())
}

/// The same values, in one more wrapping.
fn inside<'a>(wrapping: Wrapping, found: Vec<Recognised<'_>>) -> Vec<Recognised<'a>> {
    let owned = |bytes: Cow<'_, [u8]>| Cow::Owned(bytes.into_owned());
    found
        .into_iter()
        .map(|found| Recognised {
            value: owned(found.value),
            encoding: found.encoding,
            key: found.key.map(owned),
            wrappings: [vec![wrapping], found.wrappings].concat(),
            damage: found.damage,
        })
        .collect()
}

/// How many wrappings may be around each other. Each is undone in a copy at most as large as the one before.
const MOST_WRAPPINGS: usize = 8;

/// Takes off one wrapping after the other, and keeps that only if there is a value inside.
fn one(data: Cow<'_, [u8]>) -> Recognised<'_> {
    let mut current = data.clone();
    let mut key = None;
    let mut wrappings = Vec::new();
    while sniff(&current) == Encoding::Unknown && wrappings.len() < MOST_WRAPPINGS {
        let Some(unwrapped) = unwrap(&current) else { break };
        wrappings.push(unwrapped.wrapping);
        key = unwrapped.key.map(Cow::Owned).or(key);
        current = Cow::Owned(unwrapped.value);
    }
    let encoding = sniff(&current);
    if encoding == Encoding::Unknown {
        return Recognised { value: data, encoding, key: None, wrappings: Vec::new(), damage: None };
    }
    let repaired = repair::repair(current, &encoding);
    wrappings.extend(repaired.has_line_feed.then_some(Wrapping::LineFeed));
    Recognised { value: repaired.value, encoding, key, wrappings, damage: repaired.damage }
}

/// What is inside of a wrapping.
struct Unwrapped {
    wrapping: Wrapping,
    key: Option<Vec<u8>>,
    value: Vec<u8>,
}

fn unwrap(data: &[u8]) -> Option<Unwrapped> {
    let plain = |wrapping, value| Unwrapped { wrapping, key: None, value };
    if let Some((key, value)) = etcdctl::text(data) {
        return Some(Unwrapped {
            wrapping: Wrapping::EtcdctlText,
            key: Some(key.to_vec()),
            value: value.to_vec(),
        });
    }
    if let Some(inside) = text::quoted(data) {
        return Some(plain(Wrapping::Quotes, inside.to_vec()));
    }
    // Hexadecimal digits are base64 as well, but hardly of anything that is known.
    let hex = text::hex(data).map(|value| plain(Wrapping::Hex, value));
    hex.or_else(|| text::base64(data).map(|value| plain(Wrapping::Base64, value)))
}
