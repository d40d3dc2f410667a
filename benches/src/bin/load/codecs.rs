//! How objects are written and read: the one place where codecs are chosen.

use k8s_openapi::api::core::v1::Pod;
use kubestore::{
    codec::{JsonCodec, Lazy, ProstCodec, protobuf::ProtobufCodec},
    core::{Codec, CodecError, Found, Object, Wanted},
};
use kubestore_benches::Bytes;

use crate::{Outcome, arguments::CodecKind};

/// What an update writes to.
const ANNOTATION: &str = "rev";

/// The codec of the Pods of `k8s-openapi`.
#[derive(Clone, Debug)]
pub(crate) enum PodCodec {
    Json(JsonCodec<Pod>),
    Protobuf(ProtobufCodec<Pod>),
}

impl PodCodec {
    pub(crate) fn new(kind: CodecKind) -> Self {
        match kind {
            CodecKind::Json => Self::Json(JsonCodec::new().with_skim()),
            CodecKind::Protobuf => Self::Protobuf(ProtobufCodec::new()),
        }
    }

    fn chosen(&self) -> &dyn Codec<Pod> {
        match self {
            Self::Json(codec) => codec,
            Self::Protobuf(codec) => codec,
        }
    }
}

impl Codec<Pod> for PodCodec {
    fn encode(&self, object: &Pod) -> Result<Bytes, CodecError> {
        self.chosen().encode(object)
    }

    fn decode(&self, data: Bytes) -> Result<Pod, CodecError> {
        self.chosen().decode(data)
    }

    fn skim<'a>(&self, data: &'a [u8], wanted: &Wanted) -> Result<Option<Found<'a>>, CodecError> {
        self.chosen().skim(data, wanted)
    }

    fn replaceable(&self, stored: &[u8]) -> Result<(), CodecError> {
        self.chosen().replaceable(stored)
    }
}

/// An object that a workload can make and change.
pub(crate) trait Subject: Object + Sized {
    fn make(pod: Pod) -> Outcome<Self>;
    /// Writes `tag` into the object.
    fn tag(&mut self, tag: &str) -> Result<(), CodecError>;
}

impl Subject for Pod {
    fn make(pod: Pod) -> Outcome<Self> {
        Ok(pod)
    }

    fn tag(&mut self, tag: &str) -> Result<(), CodecError> {
        self.metadata.annotations.get_or_insert_default().insert(ANNOTATION.to_owned(), tag.to_owned());
        Ok(())
    }
}

impl Subject for Lazy<Pod> {
    fn make(pod: Pod) -> Outcome<Self> {
        Ok(Self::new(pod))
    }

    fn tag(&mut self, tag: &str) -> Result<(), CodecError> {
        self.get_mut()?.tag(tag)
    }
}

impl Subject for k8s_pb::api::core::v1::Pod {
    fn make(pod: Pod) -> Outcome<Self> {
        Ok(ProstCodec::new().decode(ProtobufCodec::new().encode(&pod)?)?)
    }

    fn tag(&mut self, tag: &str) -> Result<(), CodecError> {
        let annotations = &mut self.metadata.get_or_insert_default().annotations;
        annotations.insert(ANNOTATION.to_owned(), tag.to_owned());
        Ok(())
    }
}
