//! Objects of `prost` types, those of `k8s-pb` above all.

mod codec;
mod versioner;

pub use codec::ProstCodec;
pub use versioner::K8sPbVersioner;
