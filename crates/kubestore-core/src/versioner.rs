//! Where an object keeps its resource version.

use std::{borrow::Cow, fmt};

use crate::{BoxError, Found, InvalidResourceVersion, Object, Wanted};

/// What a store must know of objects of type `T`, as a value given to the store, so that `T` may be anybody's type.
pub trait Versioner<T: Object>: fmt::Debug + Send + Sync + 'static {
    /// The object's resource version; 0 when it has none.
    ///
    /// # Errors
    /// It has one that is not a number.
    fn resource_version(&self, object: &T) -> Result<u64, InvalidResourceVersion>;

    /// Sets the resource version; 0 clears it.
    ///
    /// # Errors
    /// The object has no place for one. Reads then log this and return the object without it; a watch ends.
    fn set_resource_version(&self, object: &mut T, resource_version: u64) -> Result<(), BoxError>;

    /// Clears what is never stored: resource version and self link.
    ///
    /// # Errors
    /// The object has no metadata to clear them in.
    fn prepare_for_storage(&self, object: &mut T) -> Result<(), BoxError>;

    /// The object's UID, "" when it has none.
    fn uid<'a>(&self, object: &'a T) -> Cow<'a, str>;

    /// The wanted labels and fields of the object, for codecs without a
    /// [`skim`](crate::Codec::skim) and for objects that are decoded already.
    fn find<'a>(&self, object: &'a T, wanted: &Wanted) -> Found<'a>;
}
