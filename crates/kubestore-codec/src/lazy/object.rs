//! Objects whose body is decoded on first use.

use std::{fmt, sync::OnceLock};

use kubestore_core::{CodecError, Object};

use super::{codec::Parts, opaque::Opaque};

/// An object of type `T` whose body is decoded when it is first looked at, and written back byte for byte as long as nobody
/// has asked to change it.
///
/// A list of such objects costs a fraction of one that decodes everything, in time and in memory; labels, names and
/// selectors are there at once, in [`stored`](Self::stored). Made by [`LazyCodec`](crate::LazyCodec), which has an example.
///
/// An update that hands back an untouched object writes nothing, even if the stored bytes are not as `T`'s codec would write
/// them.
pub struct Lazy<T>(pub(super) Body<T>);

pub(super) enum Body<T> {
    /// As it was stored.
    Stored { opaque: Opaque, decoded: OnceLock<Box<T>>, parts: Parts<T> },
    /// Made or changed here.
    Own(Box<T>),
}

impl<T: Object> Lazy<T> {
    /// An object that is not stored yet.
    #[must_use]
    pub fn new(object: T) -> Self {
        Self(Body::Own(Box::new(object)))
    }

    /// Type and metadata as they are stored; `None` of an object that was made or changed here.
    #[must_use]
    pub fn stored(&self) -> Option<&Opaque> {
        match &self.0 {
            Body::Stored { opaque, .. } => Some(opaque),
            Body::Own(_) => None,
        }
    }

    /// Whether the body was decoded already.
    #[must_use]
    pub fn is_decoded(&self) -> bool {
        match &self.0 {
            Body::Stored { decoded, .. } => decoded.get().is_some(),
            Body::Own(_) => true,
        }
    }

    /// The object. The first call decodes it.
    ///
    /// # Errors
    /// The stored bytes are not an object of type `T`.
    pub fn get(&self) -> Result<&T, CodecError> {
        match &self.0 {
            Body::Own(object) => Ok(object),
            Body::Stored { opaque, decoded, parts } => {
                if let Some(object) = decoded.get() {
                    return Ok(object);
                }
                // Two threads may both decode; what the first puts there stays.
                let object = parts.decode(opaque)?;
                Ok(decoded.get_or_init(|| Box::new(object)))
            }
        }
    }

    /// The object, to change. From now on it is written as `T`'s codec writes it.
    ///
    /// # Errors
    /// The stored bytes are not an object of type `T`; it stays as it was.
    pub fn get_mut(&mut self) -> Result<&mut T, CodecError> {
        if let Body::Stored { opaque, decoded, parts } = &mut self.0 {
            let object = match decoded.take() {
                Some(object) => object,
                None => Box::new(parts.decode(opaque)?),
            };
            self.0 = Body::Own(object);
        }
        match &mut self.0 {
            Body::Own(object) => Ok(object),
            Body::Stored { .. } => Err(CodecError::new("the object was not decoded")),
        }
    }

    /// The object itself.
    ///
    /// # Errors
    /// The stored bytes are not an object of type `T`.
    pub fn into_inner(self) -> Result<T, CodecError> {
        match self.0 {
            Body::Own(object) => Ok(*object),
            Body::Stored { opaque, decoded, parts } => match decoded.into_inner() {
                Some(object) => Ok(*object),
                None => parts.decode(&opaque),
            },
        }
    }
}

impl<T: Object> From<T> for Lazy<T> {
    fn from(object: T) -> Self {
        Self::new(object)
    }
}

/// A copy of a stored object shares its bytes and is decoded anew.
impl<T: Object + Clone> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Body::Own(object) => Body::Own(object.clone()),
            Body::Stored { opaque, decoded, parts } => {
                Body::Stored { opaque: opaque.clone(), decoded: decoded.clone(), parts: parts.clone() }
            }
        })
    }
}

/// Shows kind and name of a stored object and no other content.
impl<T> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Body::Stored { opaque, .. } => f.debug_tuple("Lazy").field(opaque).finish(),
            Body::Own(_) => f.write_str("Lazy(..)"),
        }
    }
}
