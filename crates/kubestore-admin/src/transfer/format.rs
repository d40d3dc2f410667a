//! What a line of an export says.

use std::borrow::Cow;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use kubestore_kv::{KeyValue, LeaseId, LeaseInfo};
use serde::{Deserialize, Serialize};

/// The number of the format that [`export`](super::export()) writes. [`import`](super::import()) reads it and all before it.
pub const EXPORT_FORMAT: u32 = 1;

/// A line. Fields that are not known are skipped.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Line<'a> {
    /// The first one.
    Export(Header),
    /// Before the first key that has the lease.
    Lease(Lease),
    #[serde(borrow)]
    Kv(Entry<'a>),
    /// The last one, without which an export was cut.
    End(End),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) format: u32,
    /// Every key begins with it.
    pub(super) prefix: String,
    /// What was exported, in words.
    pub(super) scope: String,
    pub(super) revision: i64,
    /// About how many keys follow.
    pub(super) keys: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lease {
    /// As etcd's tools write it: hexadecimal.
    pub(super) id: Cow<'static, str>,
    /// Seconds; 0 if it had ended when it was asked for.
    pub(super) granted: u64,
    pub(super) remaining: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry<'a> {
    /// If it is text.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<Cow<'a, str>>,
    /// If it is not.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) key_base64: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) create_revision: i64,
    #[serde(default)]
    pub(super) mod_revision: i64,
    #[serde(default)]
    pub(super) version: i64,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) lease: Option<Cow<'a, str>>,
    /// In base64.
    #[serde(borrow)]
    pub(super) value: Cow<'a, str>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) keys: u64,
    /// The revision of the last keys, which is the first one unless that was compacted meanwhile.
    pub(super) revision: i64,
}

impl Lease {
    pub(super) fn new(id: LeaseId, info: Option<LeaseInfo>) -> Self {
        Self {
            id: id.to_string().into(),
            granted: info.map_or(0, |info| info.granted.as_secs()),
            remaining: info.and_then(|info| info.remaining).map_or(0, |remaining| remaining.as_secs()),
        }
    }
}

impl<'a> Entry<'a> {
    pub(super) fn new(kv: &'a KeyValue) -> Self {
        let text = std::str::from_utf8(&kv.key).ok();
        Self {
            key: text.map(Cow::Borrowed),
            key_base64: text.is_none().then(|| BASE64_STANDARD.encode(&kv.key).into()),
            create_revision: kv.create_revision.0,
            mod_revision: kv.mod_revision.0,
            version: kv.version,
            lease: kv.lease.map(|lease| lease.to_string().into()),
            value: BASE64_STANDARD.encode(&kv.value).into(),
        }
    }

    pub(super) fn key(&self) -> Result<Bytes, String> {
        match (&self.key, &self.key_base64) {
            (Some(key), None) => Ok(Bytes::copy_from_slice(key.as_bytes())),
            (None, Some(encoded)) => decode("keyBase64", encoded),
            _ => Err("a kv has either key or keyBase64".to_owned()),
        }
    }

    pub(super) fn value(&self) -> Result<Bytes, String> {
        decode("value", &self.value)
    }
}

pub(super) fn lease_id(id: &str) -> Result<LeaseId, String> {
    let number = u64::from_str_radix(id, 16).map(u64::cast_signed);
    number.map(LeaseId).map_err(|_| "the number of a lease is hexadecimal".to_owned())
}

fn decode(field: &str, encoded: &str) -> Result<Bytes, String> {
    // The bytes are not told: they may be somebody's secret.
    BASE64_STANDARD.decode(encoded).map(Bytes::from).map_err(|_| format!("{field} is no base64"))
}
