//! AES-CBC: a random IV of 16 bytes, the encrypted value with PKCS#7 padding, no authentication.

use aes::{Aes128, Aes192, Aes256};
use bytes::{Buf, Bytes, BytesMut};
use cbc::{
    Decryptor, Encryptor,
    cipher::{
        Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
        KeyInit,
    },
};

use super::{Cipher, random};
use crate::{Key, KeyError, TransformError, TransformErrorKind};

const BLOCK: usize = 16;

/// The key schedules are wiped on drop and redacted in `Debug` by the cipher crate.
#[derive(Debug)]
pub(crate) enum AesCbc {
    Aes128(Box<Aes128>),
    Aes192(Box<Aes192>),
    Aes256(Box<Aes256>),
}

impl AesCbc {
    pub(crate) fn new(key: &Key) -> Result<Self, KeyError> {
        let secret = key.secret();
        let wrong = |_| key.wrong_length("aescbc", "16, 24 or 32");
        Ok(match secret.len() {
            16 => Self::Aes128(Box::new(Aes128::new_from_slice(secret).map_err(wrong)?)),
            24 => Self::Aes192(Box::new(Aes192::new_from_slice(secret).map_err(wrong)?)),
            _ => Self::Aes256(Box::new(Aes256::new_from_slice(secret).map_err(wrong)?)),
        })
    }

    fn encrypt(&self, iv: &[u8; BLOCK], text: &mut [u8]) {
        fn run<C: BlockCipherEncrypt<BlockSize = cbc::cipher::consts::U16>>(
            cipher: &C,
            iv: &[u8; BLOCK],
            text: &mut [u8],
        ) {
            let (blocks, _) = Block::<C>::slice_as_chunks_mut(text);
            Encryptor::inner_iv_init(cipher, iv.into()).encrypt_blocks(blocks);
        }
        match self {
            Self::Aes128(cipher) => run(&**cipher, iv, text),
            Self::Aes192(cipher) => run(&**cipher, iv, text),
            Self::Aes256(cipher) => run(&**cipher, iv, text),
        }
    }

    fn decrypt(&self, iv: &[u8; BLOCK], text: &mut [u8]) {
        fn run<C: BlockCipherDecrypt<BlockSize = cbc::cipher::consts::U16>>(
            cipher: &C,
            iv: &[u8; BLOCK],
            text: &mut [u8],
        ) {
            let (blocks, _) = Block::<C>::slice_as_chunks_mut(text);
            Decryptor::inner_iv_init(cipher, iv.into()).decrypt_blocks(blocks);
        }
        match self {
            Self::Aes128(cipher) => run(&**cipher, iv, text),
            Self::Aes192(cipher) => run(&**cipher, iv, text),
            Self::Aes256(cipher) => run(&**cipher, iv, text),
        }
    }
}

impl Cipher for AesCbc {
    fn seal(&self, header: &[u8], plain: &[u8], _authenticated: &[u8]) -> Result<Bytes, TransformError> {
        let mut iv = [0; BLOCK];
        random(&mut iv)?;
        let padding = BLOCK - plain.len() % BLOCK;
        let mut out = Vec::with_capacity(header.len() + BLOCK + plain.len() + padding);
        out.extend_from_slice(header);
        out.extend_from_slice(&iv);
        let text = out.len();
        out.extend_from_slice(plain);
        #[expect(clippy::cast_possible_truncation, reason = "a padding is at most one block")]
        out.resize(out.len() + padding, padding as u8);
        self.encrypt(&iv, &mut out[text..]);
        Ok(Bytes::from(out))
    }

    fn open(&self, mut sealed: BytesMut, _authenticated: &[u8]) -> Result<Bytes, TransformError> {
        let truncated = || TransformError::new(TransformErrorKind::Truncated);
        let (iv, text) = sealed.split_first_chunk_mut::<BLOCK>().ok_or_else(truncated)?;
        if !text.len().is_multiple_of(BLOCK) {
            return Err(
                truncated().with_status_message("the stored data is not a multiple of the block size")
            );
        }
        self.decrypt(iv, text);
        let end = text.len() - padding(text)?;
        sealed.advance(BLOCK);
        sealed.truncate(end);
        Ok(sealed.freeze())
    }
}

/// How many bytes of padding `text` ends in. As in the reference more than a block of it is fine, up to the whole text.
fn padding(text: &[u8]) -> Result<usize, TransformError> {
    let Some(&last) = text.last() else {
        // Only an IV is left. The reference panics here.
        return Err(TransformError::new(TransformErrorKind::Truncated).with_status_message(NOT_PADDED));
    };
    let bad = || TransformError::new(TransformErrorKind::BadPadding);
    let length = usize::from(last);
    if length == 0 || length > text.len() {
        return Err(bad().with_status_message(NOT_PADDED));
    }
    if text[text.len() - length..].iter().any(|&byte| byte != last) {
        return Err(bad());
    }
    Ok(length)
}

const NOT_PADDED: &str = "invalid PKCS7 data (empty or not padded)";

#[cfg(test)]
mod tests {
    use zeroize::ZeroizeOnDrop;

    use super::{Aes128, Aes192, Aes256};

    /// Holds only as long as the cipher crate is built with the feature that wipes keys.
    #[test]
    fn key_schedules_are_wiped() {
        fn wiped<T: ZeroizeOnDrop>() {}
        wiped::<Aes128>();
        wiped::<Aes192>();
        wiped::<Aes256>();
    }
}
