//! Every object of a list that could not be read.

use std::{error::Error, fmt};

use super::{ErrorKind, Status, StorageError, storage_error::Wire};

/// The objects that a list could not read, when it was told to go on past them
/// ([`ListOptions::past_corrupt_objects`](crate::ListOptions::past_corrupt_objects)).
///
/// It is the [`source`](Error::source) of the error of such a list; [`StorageError::corrupt_objects`] gives it.
#[derive(Debug)]
pub struct CorruptObjects {
    errors: Vec<StorageError>,
    truncated: bool,
    ended_by: Option<StorageError>,
}

impl CorruptObjects {
    /// A list says no more than so many.
    pub const MOST: usize = 100;

    /// The failures in order of their keys, [`MOST`](Self::MOST) at most. Each names its key.
    #[must_use]
    pub fn errors(&self) -> &[StorageError] {
        &self.errors
    }

    /// Whether there are more, of which nothing was read.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// What ended the list before it was through, if it was something else: a compaction, a deadline, the backend. There may
    /// be more corrupt objects.
    #[must_use]
    pub fn ended_by(&self) -> Option<&StorageError> {
        self.ended_by.as_ref()
    }
}

/// Names the keys.
impl fmt::Display for CorruptObjects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.errors.iter().enumerate() {
            let separator = if number == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {}", error.key().unwrap_or_default().escape_debug(), error.message())?;
            if let Some(cause) = error.source() {
                write!(f, ": {cause}")?;
            }
        }
        if self.truncated {
            f.write_str("; and more")?;
        }
        Ok(())
    }
}

impl Error for CorruptObjects {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.ended_by.as_ref().map(|error| error as _)
    }
}

impl StorageError {
    /// The failure of a list that went on past objects it could not read. `truncated`: there are more. `ended_by`: what
    /// ended it before it was through.
    #[must_use]
    pub fn of_corrupt_objects(
        errors: Vec<Self>,
        truncated: bool,
        ended_by: Option<Self>,
        resource: &crate::GroupResource,
    ) -> Self {
        let message = match (errors.len(), truncated) {
            (1, false) => "1 object could not be read".to_owned(),
            (count, false) => format!("{count} objects could not be read"),
            (count, true) => format!("more than {count} objects could not be read"),
        };
        let mut status = Status::new(
            500,
            "StorageReadError",
            format!("failed to read one or more {resource} from the storage"),
        );
        for error in &errors {
            let text = format!("{}: {}", error.key().unwrap_or_default(), error.status().message);
            status = status.with_cause("UnexpectedServerResponse", text);
        }
        if truncated {
            status = status.with_cause("FieldValueTooMany", "too many errors, the list is truncated");
        }
        if let Some(error) = &ended_by {
            status = status.with_cause("UnexpectedServerResponse", error.status().message);
        }
        let objects = CorruptObjects { errors, truncated, ended_by };
        Self::new(ErrorKind::Corrupt)
            .with_message(message)
            .with_source(objects)
            .with(|inner| inner.wire = Wire::Status(status))
    }

    /// The objects that a list could not read, if it was told to go on past them.
    #[must_use]
    pub fn corrupt_objects(&self) -> Option<&CorruptObjects> {
        self.source()?.downcast_ref()
    }
}
