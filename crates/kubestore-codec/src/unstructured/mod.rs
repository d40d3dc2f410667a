//! Objects of any kind.

mod codec;
mod object;
mod versioner;

pub use codec::UnstructuredCodec;
pub(crate) use codec::without_version;
pub use object::Unstructured;
pub use versioner::UnstructuredVersioner;
