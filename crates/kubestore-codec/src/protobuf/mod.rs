//! Kubernetes' protobuf: the form in which API servers store the built-in kinds.
//!
//! A stored value is an [`Envelope`], which says the type of the object and holds its message. What the messages are made of
//! is in a table, so that any type of serde is read from them ([`from_slice`], [`Deserializer`]) and written to them
//! ([`to_vec`]) in the shape that it has in JSON: one of `k8s-openapi`, `serde_json::Value`, an
//! [`Unstructured`](crate::Unstructured).
//!
//! ```
//! use kubestore_codec::protobuf;
//! use serde_json::{Value, json};
//!
//! let pod = json!({
//!     "apiVersion": "v1", "kind": "Pod",
//!     "metadata": {"name": "web", "namespace": "ns1", "creationTimestamp": "2026-01-02T03:04:05Z"},
//!     "spec": {"containers": [{"name": "web", "image": "nginx", "resources": {"limits": {"memory": "64Mi"}}}]},
//!     "status": {},
//! });
//! let stored = protobuf::to_vec(&pod)?;
//! assert!(stored.starts_with(b"k8s\0"));
//! assert_eq!(protobuf::from_slice::<Value>(&stored)?, pod);
//! # Ok::<(), protobuf::ProtobufError>(())
//! ```

mod codec;
mod de;
mod duration;
mod entry;
mod envelope;
mod error;
mod losses;
mod metadata;
mod quantity;
mod release;
mod schema;
mod ser;
mod skim;
mod time;
mod wire;

use kubestore_core::CodecError;
use serde::de::DeserializeOwned;

pub use codec::{ProtobufCodec, UnstructuredProtobufCodec};
pub use de::Deserializer;
pub use envelope::Envelope;
pub use error::{ProtobufError, ProtobufErrorKind};
pub use losses::{UnknownField, check_replaceable, has_unknown_fields, unknown_fields};
pub use metadata::{Metadata, OwnerReference};
pub use release::Release;
pub use schema::MessageType;
pub use ser::{Serializer, to_vec, to_vec_as};

use crate::lazy::HeadRef;

/// How many messages may lie in each other. Every level takes room on the stack.
pub(crate) const MAX_MESSAGES: u8 = 100;

/// Reads a stored value, envelope included, into any type of serde.
///
/// # Errors
/// The value is not an object of a kind of Kubernetes in protobuf, or does not have the form of `T`.
pub fn from_slice<T: DeserializeOwned>(stored: &[u8]) -> Result<T, ProtobufError> {
    T::deserialize(Deserializer::new(stored)?)
}

/// Type and metadata of a stored object.
///
/// # Errors
/// As [`Metadata::read`].
pub(crate) fn head(stored: &[u8]) -> Result<HeadRef<'_>, CodecError> {
    let metadata = Metadata::read(stored)?;
    Ok(HeadRef {
        api_version: metadata.api_version,
        kind: metadata.kind,
        name: metadata.name,
        namespace: metadata.namespace,
        uid: metadata.uid,
        generation: metadata.generation,
        labels: metadata.labels,
        annotations: metadata.annotations,
    })
}
