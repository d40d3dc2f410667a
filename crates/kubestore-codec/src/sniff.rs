//! Telling encodings apart.

/// How a stored value is encoded, by its first bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// Kubernetes' protobuf envelope: `k8s\0`.
    Protobuf,
    /// Self-described CBOR: the tag 55799.
    Cbor,
    /// Something that may be JSON: `{` after white space.
    Json,
    /// Kubernetes' encryption at rest: `k8s:enc:`, then provider, version and name of the key where they are readable.
    Encrypted {
        /// Such as `aesgcm`.
        provider: Option<String>,
        /// The name of the key; for `kms` of the plugin.
        key: Option<String>,
    },
    /// Nothing that Kubernetes writes.
    Unknown,
}

/// Looks at the first bytes of a stored value.
///
/// ```
/// use kubestore_codec::{Encoding, sniff};
/// assert_eq!(sniff(b"{\"kind\":\"Pod\"}\n"), Encoding::Json);
/// assert_eq!(sniff(b"k8s\0\x0a\x09"), Encoding::Protobuf);
/// let encrypted = Encoding::Encrypted { provider: Some("aesgcm".into()), key: Some("key1".into()) };
/// assert_eq!(sniff(b"k8s:enc:aesgcm:v1:key1:\x17\x9a"), encrypted);
/// ```
#[must_use]
pub fn sniff(data: &[u8]) -> Encoding {
    if data.starts_with(b"k8s\0") {
        return Encoding::Protobuf;
    }
    if data.starts_with(&[0xd9, 0xd9, 0xf7]) {
        return Encoding::Cbor;
    }
    if let Some(rest) = data.strip_prefix(b"k8s:enc:") {
        return encrypted(rest);
    }
    match data.trim_ascii_start().first() {
        Some(b'{') => Encoding::Json,
        _ => Encoding::Unknown,
    }
}

/// `<provider>:<version>:<key>:…`
fn encrypted(rest: &[u8]) -> Encoding {
    // Names are short; a longer first part is not a header but garbage.
    let mut parts = rest[..rest.len().min(512)].split(|byte| *byte == b':');
    let mut name = || parts.next().and_then(|part| std::str::from_utf8(part).ok()).map(str::to_owned);
    let (provider, version, key) = (name(), name(), name());
    // A part counts when the colon after it is there.
    let complete = parts.next().is_some() && version.is_some();
    if complete {
        Encoding::Encrypted { provider, key }
    } else {
        Encoding::Encrypted { provider: None, key: None }
    }
}
