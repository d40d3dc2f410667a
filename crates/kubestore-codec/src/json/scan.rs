//! Looking for bytes, eight at a time.

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

/// The high bit of every byte of `word` below `limit`, which is at most 0x80. Exact up to the lowest such byte.
fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH_BITS
}

/// The high bit of every byte of `word` that is `byte`. Exact up to the lowest such byte.
fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

/// How many bytes come before the first one that `word_marks` and `is_special` mark.
fn run(bytes: &[u8], word_marks: impl Fn(u64) -> u64, is_special: impl Fn(u8) -> bool) -> usize {
    let mut length = 0;
    while let Some(chunk) = bytes[length..].first_chunk::<8>() {
        let marks = word_marks(u64::from_le_bytes(*chunk));
        if marks != 0 {
            return length + (marks.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    length + bytes[length..].iter().take_while(|byte| !is_special(**byte)).count()
}

/// How many bytes of a JSON string come before a quote, a backslash or a control character.
pub(super) fn unescaped_run(bytes: &[u8]) -> usize {
    run(
        bytes,
        |word| below(word, 0x20) | equal(word, b'"') | equal(word, b'\\'),
        |byte| byte < 0x20 || byte == b'"' || byte == b'\\',
    )
}

/// How many bytes of a text can be written into a JSON string as they are. The byte after them may turn out to be one of
/// these, too: 0xE2 begins U+2028, U+2029 and many others.
pub(super) fn writable_run(bytes: &[u8]) -> usize {
    // `<` and `>` differ in one bit.
    const ANGLE: u8 = b'<' & b'>';
    const NOT_THAT_BIT: u64 = ONES * (!(b'<' ^ b'>')) as u64;
    run(
        bytes,
        |word| {
            below(word, 0x20)
                | equal(word, b'"')
                | equal(word, b'\\')
                | equal(word, b'&')
                | equal(word, 0xE2)
                | equal(word & NOT_THAT_BIT, ANGLE)
        },
        |byte| byte < 0x20 || matches!(byte, b'"' | b'\\' | b'&' | b'<' | b'>' | 0xE2),
    )
}

#[cfg(test)]
mod tests {
    use super::{unescaped_run, writable_run};

    #[test]
    fn every_byte_is_found_at_every_place() {
        for special in 0..=255_u8 {
            for at in 0..20 {
                let mut bytes = [b'a'; 20];
                bytes[at] = special;
                let stops = special < 0x20 || matches!(special, b'"' | b'\\');
                assert_eq!(unescaped_run(&bytes), if stops { at } else { 20 }, "{special} at {at}");
                let stops = stops || matches!(special, b'&' | b'<' | b'>' | 0xE2);
                assert_eq!(writable_run(&bytes), if stops { at } else { 20 }, "{special} at {at}");
            }
        }
    }

    #[test]
    fn the_first_of_several_is_found() {
        for filler in [0x21, 0x7f, 0x80, 0xff] {
            let mut bytes = [filler; 16];
            bytes[3] = b'"';
            bytes[4] = b'#';
            bytes[9] = 0x1f;
            assert_eq!(unescaped_run(&bytes), 3);
            assert_eq!(unescaped_run(&bytes[4..]), 5);
        }
    }
}
