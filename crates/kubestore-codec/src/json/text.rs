//! Bytes as text.

use std::borrow::Cow;

/// `data` as text, every byte that is not part of valid UTF-8 replaced by one U+FFFD.
///
/// Rust's own lossy conversion makes one of up to three bytes, Kubernetes' reader does not. Inside strings the result is
/// what that reader gives; outside of them both refuse the document.
pub(crate) fn go_text(data: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(data) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(data.len() + 16);
    for chunk in data.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}
