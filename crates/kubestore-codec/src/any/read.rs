//! Reading by what the bytes are.

use bytes::Bytes;
use kubestore_core::{Codec as _, CodecError, Found, Versioner as _, Wanted};
use serde::de::DeserializeOwned;

#[cfg(feature = "cbor")]
use crate::cbor;
#[cfg(feature = "protobuf")]
use crate::protobuf;
#[cfg(any(feature = "cbor", feature = "protobuf"))]
use crate::sniff::{Encoding, sniff};
use crate::{JsonCodec, Unstructured, UnstructuredCodec, UnstructuredVersioner};

/// The object as a type of serde.
pub(crate) fn decode<T: DeserializeOwned>(data: &Bytes) -> Result<T, CodecError> {
    #[cfg(feature = "cbor")]
    if sniff(data) == Encoding::Cbor {
        return cbor::CborCodec::<T>::new().read(data);
    }
    #[cfg(feature = "protobuf")]
    if sniff(data) == Encoding::Protobuf {
        return protobuf::ProtobufCodec::<T>::new().read(data);
    }
    JsonCodec::<T>::new().read(data)
}

/// Answers from the bytes; `Ok(None)` where only the decoder can answer.
pub(crate) fn skim<'a>(data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
    #[cfg(feature = "cbor")]
    if sniff(data) == Encoding::Cbor {
        return cbor::UnstructuredCborCodec.skim(data, wanted);
    }
    #[cfg(feature = "protobuf")]
    if sniff(data) == Encoding::Protobuf {
        return protobuf::UnstructuredProtobufCodec.skim(data, wanted);
    }
    UnstructuredCodec.skim(data, wanted)
}

/// Fills in the fields that were not found in the metadata.
pub(crate) fn find_fields<'a>(data: &'a Bytes, wanted: &Wanted, found: &mut Found<'a>) {
    let fields = match skim(data, wanted) {
        Ok(Some(skimmed)) => skimmed.fields,
        _ => match decode::<Unstructured>(data) {
            Ok(object) => {
                let fields = UnstructuredVersioner.find(&object, wanted).fields;
                fields.into_iter().map(|field| field.map(|text| text.into_owned().into())).collect()
            }
            // A field that cannot be read is one that the object does not have.
            Err(_) => return,
        },
    };
    for (answer, field) in found.fields.iter_mut().zip(fields) {
        if answer.is_none() {
            *answer = field;
        }
    }
}
