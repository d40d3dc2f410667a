//! Objects in any of the encodings that API servers store.

use bytes::Bytes;
use kubestore::{
    codec::{Encoding, Unstructured, UnstructuredCodec, cbor, protobuf, sniff},
    core::{Codec, CodecError, Found, Wanted},
};

/// The object in a value that is not encrypted, or no longer so. All that this command decodes is decoded here.
///
/// # Errors
/// The value is not an object that can be read.
pub(crate) fn decode(data: Bytes) -> Result<Unstructured, CodecError> {
    match sniff(&data) {
        Encoding::Protobuf => protobuf::from_slice(&data)
            .map_err(|cause| CodecError::new("the protobuf cannot be read").with_source(cause)),
        Encoding::Cbor => cbor::CborCodec::<Unstructured>::new().decode(data),
        _ => UnstructuredCodec.decode(data),
    }
}

/// Reads all encodings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectCodec;

impl Codec<Unstructured> for ObjectCodec {
    fn encode(&self, object: &Unstructured) -> Result<Bytes, CodecError> {
        UnstructuredCodec.encode(object)
    }

    fn decode(&self, data: Bytes) -> Result<Unstructured, CodecError> {
        decode(data)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        match sniff(data) {
            Encoding::Json => UnstructuredCodec.skim(data, wanted),
            _ => Ok(None),
        }
    }
}
