//! Objects that are decoded as far as somebody looks at them.

mod codec;
mod head;
mod json_head;
mod object;
mod opaque;
mod text;

pub use codec::LazyCodec;
#[cfg(any(feature = "cbor", feature = "protobuf"))]
pub(crate) use head::HeadRef;
pub use object::Lazy;
pub use opaque::{Opaque, OpaqueCodec, OpaqueVersioner};
