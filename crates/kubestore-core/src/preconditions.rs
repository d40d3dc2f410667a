//! What an object must be for a write to happen.

use crate::{Object, Result, StorageError, Versioner};

/// Checked against the object as it is right before the write. A field that is `None` is not checked.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The object's UID; "" for an object that does not exist.
    pub uid: Option<String>,
    /// The object's resource version, compared as text.
    pub resource_version: Option<String>,
}

impl Preconditions {
    /// Only this object, not another one created under its name.
    #[must_use]
    pub fn uid(uid: impl Into<String>) -> Self {
        Self { uid: Some(uid.into()), resource_version: None }
    }

    /// Only if nobody has changed it.
    #[must_use]
    pub fn resource_version(version: impl Into<String>) -> Self {
        Self { uid: None, resource_version: Some(version.into()) }
    }

    /// Checks `object`, which is kept at `key`; `None` is one that does not exist.
    ///
    /// # Errors
    /// [`InvalidObject`](crate::ErrorKind::InvalidObject), naming what was asked for and what is.
    pub fn check<T: Object>(
        &self,
        key: &str,
        object: Option<&T>,
        versioner: &dyn Versioner<T>,
    ) -> Result<()> {
        if let Some(wanted) = &self.uid {
            let found = object.map_or_else(Default::default, |object| versioner.uid(object));
            if *wanted != found {
                let text = format!(
                    "Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
                );
                return Err(StorageError::invalid_object(key, text));
            }
        }
        if let Some(wanted) = &self.resource_version {
            let version = object.and_then(|object| versioner.resource_version(object).ok()).unwrap_or(0);
            let found = if version == 0 { String::new() } else { version.to_string() };
            if *wanted != found {
                let text = format!(
                    "Precondition failed: ResourceVersion in precondition: {wanted}, \
                     ResourceVersion in object meta: {found}"
                );
                return Err(StorageError::invalid_object(key, text));
            }
        }
        Ok(())
    }
}
