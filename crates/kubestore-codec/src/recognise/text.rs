//! Values written as text.

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Base64 of either alphabet; white space and padding do not matter.
pub(super) fn base64(data: &[u8]) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let digits: Vec<u8> = data.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if digits.is_empty() {
        return None;
    }
    let is_url_safe = digits.iter().any(|digit| matches!(digit, b'-' | b'_'));
    let alphabet = if is_url_safe { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, LENIENT).decode(digits).ok()
}

/// Hexadecimal digits with white space anywhere, and with `0x` in front of all or `\x` in front of every two. In the latter
/// form line feeds stand for themselves.
pub(super) fn hex(data: &[u8]) -> Option<Vec<u8>> {
    let data = data.trim_ascii();
    if data.starts_with(b"\\x") {
        let lines: Option<Vec<_>> = data.split(|byte| *byte == b'\n').map(escaped_line).collect();
        let mut lines = lines?;
        if lines.len() > 1 {
            // The last line has an end as well, which was trimmed.
            lines.push(Vec::new());
        }
        return Some(lines.join(&b'\n'));
    }
    let data = data.strip_prefix(b"0x").unwrap_or(data);
    let digits: Vec<u8> = data.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| byte(pair[0], pair[1])).collect()
}

fn escaped_line(line: &[u8]) -> Option<Vec<u8>> {
    let bytes = line.trim_ascii().chunks(4);
    bytes
        .map(|escaped| match escaped {
            [b'\\', b'x', high, low] => byte(*high, *low),
            _ => None,
        })
        .collect()
}

fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// What is between quotation marks.
pub(super) fn quoted(data: &[u8]) -> Option<&[u8]> {
    let data = data.trim_ascii();
    [b"\"", b"'"].into_iter().find_map(|mark| data.strip_prefix(mark)?.strip_suffix(mark))
}

/// Text in UTF-16 with a byte order mark.
pub(super) fn utf16(data: &[u8]) -> Option<String> {
    let (unit, rest): (fn([u8; 2]) -> u16, _) = match data {
        [0xff, 0xfe, rest @ ..] => (u16::from_le_bytes, rest),
        [0xfe, 0xff, rest @ ..] => (u16::from_be_bytes, rest),
        _ => return None,
    };
    let (pairs, []) = rest.as_chunks::<2>() else { return None };
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect::<Result<_, _>>().ok()
}
