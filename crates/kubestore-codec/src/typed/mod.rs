//! Objects of Rust types.

mod codec;
mod describe;
mod find;
#[cfg(feature = "kube")]
mod kube;
mod metadata;
#[cfg(feature = "k8s-openapi")]
mod object_meta;
#[cfg(feature = "k8s-openapi")]
mod openapi;

pub use codec::JsonCodec;
#[cfg(feature = "kube")]
pub use kube::KubeVersioner;
pub use metadata::{HasMetadata, MetadataVersioner, ObjectMetadata};
#[cfg(feature = "k8s-openapi")]
pub use openapi::K8sOpenapiVersioner;
