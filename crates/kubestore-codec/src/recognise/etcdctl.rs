//! What `etcdctl get` prints.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, de::IgnoredAny};

#[derive(Deserialize)]
struct Response<'a> {
    /// A Kubernetes object has this, and an answer of etcd never.
    kind: Option<IgnoredAny>,
    #[serde(borrow)]
    kvs: Option<Vec<KeyValue<'a>>>,
    header: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct KeyValue<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    /// Left out when it is empty.
    #[serde(borrow, default)]
    value: Cow<'a, str>,
}

/// The pairs in the output of `etcdctl get -w json`.
pub(super) fn json(data: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let trimmed = data.trim_ascii_start();
    if !trimmed.starts_with(b"{") {
        return None;
    }
    let response: Response<'_> = serde_json::from_slice(trimmed).ok()?;
    if response.kind.is_some() || (response.kvs.is_none() && response.header.is_none()) {
        return None;
    }
    let pairs = response.kvs.unwrap_or_default().into_iter();
    pairs.map(|pair| Some((STANDARD.decode(&*pair.key).ok()?, STANDARD.decode(&*pair.value).ok()?))).collect()
}

/// Key and value from the output of `etcdctl get` for one key.
pub(super) fn text(data: &[u8]) -> Option<(&[u8], &[u8])> {
    // Keys of Kubernetes begin so.
    if !data.starts_with(b"/") {
        return None;
    }
    let end = data.iter().position(|byte| *byte == b'\n')?;
    let (key, value) = (&data[..end], &data[end + 1..]);
    // The whole output went through a terminal.
    let (key, line_end): (_, &[u8]) = match key.strip_suffix(b"\r") {
        Some(key) => (key, b"\r\n"),
        None => (key, b"\n"),
    };
    let is_key = std::str::from_utf8(key).is_ok_and(|key| !key.contains(char::is_control));
    is_key.then(|| (key, value.strip_suffix(line_end).unwrap_or(value)))
}
