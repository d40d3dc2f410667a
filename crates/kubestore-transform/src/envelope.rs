//! What the front of a stored value says.

/// How every encrypted value begins. JSON, protobuf and CBOR values do not.
pub const ENVELOPE_PREFIX: &[u8] = b"k8s:enc:";

/// The longest name that is believed; what follows a damaged header is arbitrary bytes.
const LONGEST_NAME: usize = 253;

/// The front of an encrypted value, `k8s:enc:<provider>:<version>:<key name>:`, which is readable without any key.
///
/// ```
/// use kubestore_transform::EnvelopeHeader;
///
/// let header = EnvelopeHeader::parse(b"k8s:enc:aesgcm:v1:key1:...").expect("an envelope");
/// assert_eq!((header.provider, header.version, header.key_name), ("aesgcm", "v1", Some("key1")));
/// assert_eq!(EnvelopeHeader::parse(br#"{"kind":"Secret"}"#), None);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnvelopeHeader<'a> {
    /// The provider: `aesgcm`, `aescbc`, `secretbox`, `kms`; empty if it is cut off or not text.
    pub provider: &'a str,
    /// The version of the provider's format, `v1` or `v2`; empty if it is cut off or not text.
    pub version: &'a str,
    /// The key's name (of `kms`: the plugin's), up to its first colon; `None` if it is cut off or not text.
    pub key_name: Option<&'a str>,
}

impl<'a> EnvelopeHeader<'a> {
    /// Reads the header; `None` if `stored` is not encrypted.
    #[must_use]
    pub fn parse(stored: &'a [u8]) -> Option<Self> {
        let rest = stored.strip_prefix(ENVELOPE_PREFIX)?;
        let mut header = Self { provider: "", version: "", key_name: None };
        let Some((provider, rest)) = name(rest) else { return Some(header) };
        header.provider = provider;
        let Some((version, rest)) = name(rest) else { return Some(header) };
        header.version = version;
        header.key_name = name(rest).map(|(name, _)| name);
        Some(header)
    }
}

/// What stands before the first colon, if it can be a name, and what follows.
fn name(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().take(LONGEST_NAME + 1).position(|&byte| byte == b':')?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    (!text.contains(char::is_control)).then_some((text, &bytes[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::EnvelopeHeader;

    fn parse(stored: &[u8]) -> Option<(&str, &str, Option<&str>)> {
        EnvelopeHeader::parse(stored).map(|header| (header.provider, header.version, header.key_name))
    }

    #[test]
    fn headers_whole_and_cut_off() {
        assert_eq!(parse(b"k8s:enc:kms:v2:plugin:x"), Some(("kms", "v2", Some("plugin"))));
        assert_eq!(parse(b"k8s:enc:aesgcm:v1:key1"), Some(("aesgcm", "v1", None)));
        assert_eq!(parse(b"k8s:enc:aesgcm:v1"), Some(("aesgcm", "", None)));
        assert_eq!(parse(b"k8s:enc:"), Some(("", "", None)));
        assert_eq!(parse(b"k8s:enc"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn arbitrary_bytes_are_no_name() {
        assert_eq!(parse(b"k8s:enc:aesgcm:v1:\xff\xfe:"), Some(("aesgcm", "v1", None)));
        assert_eq!(parse(b"k8s:enc:aesgcm:v1:a\x1bb:"), Some(("aesgcm", "v1", None)));
        let long = [b"k8s:enc:aesgcm:v1:".as_slice(), &[b'a'; 254], b":"].concat();
        assert_eq!(parse(&long), Some(("aesgcm", "v1", None)));
        let longest = [b"k8s:enc:aesgcm:v1:".as_slice(), &[b'a'; 253], b":"].concat();
        assert_eq!(parse(&longest).and_then(|(.., name)| name).map(str::len), Some(253));
    }
}
