//! Writing headers of items.

use ciborium_ll::{Encoder, Header};

/// Before every document, so that it can be recognised: tag 55799.
pub(super) const SELF_DESCRIBED: [u8; 3] = [0xd9, 0xd9, 0xf7];

pub(super) const NULL: u8 = 0xf6;

/// Appends a header in its shortest form; floats in the shortest that keeps their value.
pub(super) fn write_header(out: &mut Vec<u8>, header: Header) {
    const LONGEST: usize = 9;
    let mut buffer = [0; LONGEST];
    let mut free = &mut buffer[..];
    // The longest header fits, so that nothing can fail.
    if Encoder::from(&mut free).push(header).is_ok() {
        let used = LONGEST - free.len();
        out.extend_from_slice(&buffer[..used]);
    }
}

/// Appends text as Kubernetes writes it, which is a byte string.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    write_header(out, Header::Bytes(Some(text.len())));
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn write_bool(out: &mut Vec<u8>, value: bool) {
    write_header(out, Header::Simple(if value { 21 } else { 20 }));
}

pub(super) fn write_integer(out: &mut Vec<u8>, number: i64) {
    let header = match u64::try_from(number) {
        Ok(number) => Header::Positive(number),
        // CBOR keeps the complement of a negative number.
        Err(_) => Header::Negative((!number).cast_unsigned()),
    };
    write_header(out, header);
}
