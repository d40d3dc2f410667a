//! Objects of any kind.

mod codec;
mod object;
mod versioner;

pub use codec::UnstructuredCodec;
pub use object::Unstructured;
pub use versioner::UnstructuredVersioner;
