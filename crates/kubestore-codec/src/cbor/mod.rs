//! CBOR, as API servers store custom resources that are told to.
//!
//! A stored value begins with the self-described tag (`d9 d9 f7`). Kubernetes writes text as byte strings, and `[]byte` as byte
//! strings inside of tag 22, which stands for their base64. [`from_slice`] and [`to_vec`] go between these bytes and any type
//! of serde; [`CborCodec`] and [`UnstructuredCborCodec`] let a store keep its objects so.

mod build;
mod codec;
mod compound;
mod de;
mod error;
mod head;
mod header;
mod key;
mod later;
mod name;
mod reader;
mod ser;
mod skim;
mod tagged;
mod time;
mod write;

pub(crate) use codec::head;
pub use codec::{CborCodec, UnstructuredCborCodec};
pub use de::{Deserializer, from_slice};
pub use error::CborError;
pub use ser::to_vec;

/// Whether `data` is one value, all of it.
#[cfg(feature = "recognise")]
pub(crate) fn is_whole(data: &[u8]) -> bool {
    let mut reader = reader::Reader::new(data);
    reader.skip(None).and_then(|()| reader.end()).is_ok()
}
