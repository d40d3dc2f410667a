//! Byte strings that stand for text in another encoding.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};

/// In what encoding the byte strings inside of a tag 21, 22 or 23 become text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Later {
    Base64Url,
    Base64,
    Base16,
}

impl Later {
    pub(super) fn of_tag(tag: u64) -> Option<Self> {
        match tag {
            21 => Some(Self::Base64Url),
            22 => Some(Self::Base64),
            23 => Some(Self::Base16),
            _ => None,
        }
    }

    pub(super) fn text(self, bytes: &[u8]) -> String {
        match self {
            Self::Base64Url => URL_SAFE_NO_PAD.encode(bytes),
            Self::Base64 => STANDARD.encode(bytes),
            Self::Base16 => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let digit = |nibble: u8| char::from(HEX[usize::from(nibble & 15)]);
                bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
            }
        }
    }
}
