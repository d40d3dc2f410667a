//! What is in a value that opened.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use kubestore_codec::{
    UnstructuredCodec,
    cbor::UnstructuredCborCodec,
    protobuf::{self, Envelope, ProtobufErrorKind},
};
use kubestore_core::Codec;

use crate::{
    PlainEncoding,
    failure::{FailureCause, Problem, with_causes},
};

/// How contents are checked.
#[derive(Clone, Default)]
pub(super) enum Contents {
    /// Not at all.
    #[default]
    Any,
    /// As objects of Kubernetes.
    Objects,
    /// As somebody says.
    Decoded(Arc<Decode>),
}

/// Whether bytes under a key are what they should be; if not, why.
pub(super) type Decode = dyn Fn(&[u8], &Bytes) -> Result<(), String> + Send + Sync;

impl Contents {
    pub(super) fn check(&self, key: &[u8], plain: &Bytes) -> Result<(), Problem> {
        let decoded = match self {
            Self::Any => Ok(()),
            Self::Objects if PlainEncoding::of(plain) == PlainEncoding::Unknown => return Err(foreign()),
            Self::Objects => decode(plain),
            Self::Decoded(decode) => decode(key, plain),
        };
        decoded.map_err(|reason| Problem::new(FailureCause::Undecodable, reason))
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "Any",
            Self::Objects => "Objects",
            Self::Decoded(_) => "Decoded(_)",
        })
    }
}

fn decode(plain: &Bytes) -> Result<(), String> {
    match PlainEncoding::of(plain) {
        PlainEncoding::Cbor => {
            UnstructuredCborCodec.decode(plain.clone()).map(drop).map_err(|error| with_causes(&error))
        }
        PlainEncoding::Protobuf => decode_protobuf(plain),
        _ => UnstructuredCodec.decode(plain.clone()).map(drop).map_err(|error| with_causes(&error)),
    }
}

fn foreign() -> Problem {
    let message = "the bytes are neither JSON nor protobuf nor CBOR: no API server wrote them; restore the value, or \
                   delete it";
    Problem::new(FailureCause::Foreign, message)
}

fn decode_protobuf(plain: &Bytes) -> Result<(), String> {
    match protobuf::from_slice::<serde_json::Value>(plain) {
        Ok(_) => Ok(()),
        // Only the envelope can be checked of a kind that is not known.
        Err(error) if error.kind() == ProtobufErrorKind::UnknownKind => {
            Envelope::parse(plain).map(drop).map_err(|error| with_causes(&error))
        }
        Err(error) => Err(with_causes(&error)),
    }
}
