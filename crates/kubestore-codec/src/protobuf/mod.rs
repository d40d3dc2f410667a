//! Kubernetes' protobuf: the form in which API servers store the built-in kinds.
//!
//! A stored value is an [`Envelope`], which says the type of the object and holds its message. What the messages are made of
//! is in a table, so that any type of serde is read from them ([`from_slice`], [`Deserializer`]) and written to them
//!  in the shape that it has in JSON: one of `k8s-openapi`, `serde_json::Value`, an
//! [`Unstructured`](crate::Unstructured).
#![allow(dead_code, reason = "the writer, which is still to come, uses it")]

mod de;
mod duration;
mod envelope;
mod error;
mod quantity;
mod schema;
mod time;
mod wire;

use serde::de::DeserializeOwned;

pub use de::{Deserializer, Printing};
pub use envelope::Envelope;
pub use error::{ProtobufError, ProtobufErrorKind};
pub use schema::MessageType;

/// How many messages may lie in each other. Every level takes room on the stack.
pub(crate) const MAX_MESSAGES: u8 = 100;

/// Reads a stored value, envelope included, into any type of serde.
///
/// # Errors
/// The value is not an object of a kind of Kubernetes in protobuf, or does not have the form of `T`.
pub fn from_slice<T: DeserializeOwned>(stored: &[u8]) -> Result<T, ProtobufError> {
    T::deserialize(Deserializer::new(stored)?)
}
