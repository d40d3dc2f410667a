#![doc = include_str!("../README.md")]

mod any;
#[cfg(feature = "cbor")]
pub mod cbor;
mod field;
mod json;
mod lazy;
#[cfg(feature = "k8s-pb")]
mod prost_types;
#[cfg(feature = "protobuf")]
pub mod protobuf;
#[cfg(feature = "recognise")]
mod recognise;
#[cfg(any(feature = "cbor", feature = "protobuf"))]
mod refuse;
mod resource;
mod sniff;
mod typed;
mod unstructured;
mod value;

#[cfg(feature = "protobuf")]
pub use any::{StorageCodec, WriteAs};
pub use lazy::{Lazy, LazyCodec, Opaque, OpaqueCodec, OpaqueVersioner};
#[cfg(feature = "k8s-pb")]
pub use prost_types::{K8sPbVersioner, ProstCodec};
#[cfg(feature = "recognise")]
pub use recognise::{Damage, Recognised, Wrapping, recognise};
pub use resource::{
    InvalidCrd, InvalidObjectKey, InvalidResource, Location, Resource, ResourceScope, ResourceTable,
};
pub use sniff::{Encoding, sniff};
#[cfg(feature = "k8s-openapi")]
pub use typed::K8sOpenapiVersioner;
#[cfg(feature = "kube")]
pub use typed::KubeVersioner;
pub use typed::{HasMetadata, JsonCodec, MetadataVersioner, ObjectMetadata};
pub use unstructured::{Unstructured, UnstructuredCodec, UnstructuredVersioner};
pub use value::{Array, InvalidPointer, MAX_DEPTH, Map, NotAnObject, NotJson, Value};
